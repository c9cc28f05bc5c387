/**
 * The feed of the snapshots themselves. It follows from the index of the change lists, and so from when the register
 * was built: the digest of the tree leaves it out, like that index.
 */
import { z } from 'zod';
import { FEEDS, documentFile } from '../../feed-routes.js';
import type { Change } from '../../publish/changes.js';
import type { Teller } from '../../publish/told.js';
import { NEVER, tag } from './document.js';
import type { Entry, Imprint } from './document.js';
import { anchor, list } from './entries.js';
import type { Fact } from './entries.js';
import { atom, jsonFeed } from './render.js';

const { name, title, description } = FEEDS.snapshots;

/** What is told of the snapshots, under one imprint. */
export const snapshotTeller =
  (imprint: Imprint): Teller =>
  (changes) => {
    const document = (file: string) => ({
      id: tag(imprint, `feeds/${name}`),
      title: `${imprint.name}: ${title}`,
      description,
      updated: changes[0]?.built_at ?? NEVER,
      self: `${imprint.baseUrl}/${file}`,
      entries: changes.map((change) => entryOf(change, imprint)),
      links: {},
      isArchive: false,
    });
    const [inAtom, inJson] = [documentFile(FEEDS.snapshots, 'atom'), documentFile(FEEDS.snapshots, 'json')];
    return [
      { file: inAtom, body: atom(document(inAtom), imprint) },
      { file: inJson, body: jsonFeed(document(inJson), imprint) },
    ];
  };

type Counts = Change['counts'][string];

const inWords = ({ added, changed, removed }: Counts): string =>
  `${added} added, ${changed} changed, ${removed} removed`;

function entryOf({ sequence, from, as_of, built_at, counts, file }: Change, imprint: Imprint): Entry {
  const kinds = Object.entries(counts);
  const sum = (of: (count: Counts) => number): number =>
    kinds.reduce((total, [, count]) => total + of(count), 0);
  const added = sum((count) => count.added);
  const facts: readonly Fact[] = [
    ...(from === null ? [] : [['Follows', `snapshot ${from}`] as const]),
    ['Register as of', as_of ?? 'never measured'],
    ['Built at', built_at],
    ...kinds.map(([kind, count]) => [kind, inWords(count)] as const),
  ];
  // A first snapshot changes everything and has no list.
  const url = imprint.baseUrl + (file ?? '/changes/index.json');
  return {
    id: tag(imprint, `snapshot/${sequence}`),
    title:
      `Snapshot ${sequence}: ${added} ${added === 1 ? 'record' : 'records'} added,` +
      ` ${sum((count) => count.changed)} changed, ${sum((count) => count.removed)} removed`,
    content: `${list(facts)}<p>${anchor(url, file === null ? 'The newest snapshots' : 'Everything it changed')}</p>`,
    published: built_at,
    updated: built_at,
    url,
  };
}

/** As much of snapshot.json as says who publishes; older ones said less. */
const service = z.object({
  service: z.object({
    name: z.string(),
    url: z.string(),
    base_url: z.string(),
    licence: z.object({ name: z.string(), url: z.string() }),
    tag_authority: z.string(),
  }),
});

/** What goes on being told without the operator's file, where snapshot.json has the imprint. */
export function snapshotTellerOf(manifest: unknown): Teller {
  const { success, data } = service.safeParse(manifest);
  if (!success) return () => [];
  const { base_url: baseUrl, tag_authority: tagAuthority, ...rest } = data.service;
  return snapshotTeller({ ...rest, baseUrl, tagAuthority });
}
