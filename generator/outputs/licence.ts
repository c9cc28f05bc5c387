/** The terms of reuse, in words. */
import type { Operator } from '../config/operator-file.js';

type Licence = Operator['licence'];

const PUBLIC_DOMAIN = [
  /^https?:\/\/(?:www\.)?creativecommons\.org\/(?:publicdomain|licenses\/publicdomain)\b/i,
  /^https?:\/\/(?:www\.)?opendatacommons\.org\/licenses\/pddl\b/i,
];
const PUBLIC_DOMAIN_NAME = /^(?:cc[ -]?0|cc zero|pddl|public domain)\b/i;

/** Whether reusers must name the source. A licence that gives up all rights asks for nothing. */
export const asksForCredit = ({ name, url }: Licence): boolean =>
  !PUBLIC_DOMAIN_NAME.test(name) && !PUBLIC_DOMAIN.some((pattern) => pattern.test(url));

/** The terms, as sentences. */
export const termsText = ({ name, url, licence }: Pick<Operator, 'name' | 'url' | 'licence'>): string =>
  `Free to reuse under ${licence.name} (${licence.url}). ` +
  (asksForCredit(licence) ? `Credit ${name} with a link to ${url}.` : 'No credit is required.');
