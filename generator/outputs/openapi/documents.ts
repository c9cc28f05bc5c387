/** What every published JSON document looks like, by the name of its route. */
import { RESOURCES } from '../../schema/index.js';
import { shapesOf } from '../../schema/shape.js';
import type { ObjectShape } from '../../schema/shape.js';
import type { Document, Resource } from '../../schema/field.js';
import { INDEX_SHAPE } from '../api-index.js';
import { LARGEST_SHAPE } from '../largest.js';
import { MANIFEST_SHAPE } from '../snapshot.js';
import { STATS_SHAPE } from '../stats.js';
import { CHANGES_SHAPE, CHANGE_LIST_SHAPE } from './changes.js';

function documentsOf(resource: Resource): readonly ObjectShape[] {
  const shape = ({ route, fields }: Document, description: string): ObjectShape => ({
    is: 'object',
    name: route,
    nullable: false,
    description,
    members: shapesOf(fields, resource.histories),
  });
  const { kind, record, history } = resource;
  const measured = shape(record, `The measured record of one ${kind}.`);
  return history === undefined ? [measured] : [measured, shape(history, `The history of one ${kind}.`)];
}

/** Each is named as its route is. */
export const DOCUMENTS: readonly ObjectShape[] = [
  INDEX_SHAPE,
  ...RESOURCES.flatMap(documentsOf),
  LARGEST_SHAPE,
  STATS_SHAPE,
  MANIFEST_SHAPE,
  CHANGES_SHAPE,
  CHANGE_LIST_SHAPE,
];

/** What the documents of a route look like; undefined where they are not JSON of our own. */
export const documentOf = (route: string): ObjectShape | undefined =>
  DOCUMENTS.find(({ name }) => name === route);
