/** The shapes of all published JSON documents, by route name. */
import { RESOURCES } from '../../schema/schema.js';
import type { ObjectShape } from '../../schema/shape.js';
import { shapesOf, type Document, type Resource } from '../../schema/field.js';
import type { Route } from '../../routes/route.js';
import { CATALOG_SHAPE } from '../api-catalog.js';
import { INDEX_SHAPE } from '../api-index.js';
import { LOOKUP_SHAPES } from '../lookup/lookup.js';
import { LARGEST_SHAPE } from '../largest.js';
import { LIST_SHAPES } from '../lists/lists.js';
import { SNAPSHOT_SHAPE } from '../snapshot.js';
import { STATS_SHAPE } from '../stats.js';
import { CHANGES_SHAPE } from './changes.js';

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

/** Each has the name of its route. */
export const DOCUMENTS: readonly ObjectShape[] = [
  INDEX_SHAPE,
  ...RESOURCES.flatMap(documentsOf),
  LARGEST_SHAPE,
  STATS_SHAPE,
  ...LIST_SHAPES,
  ...LOOKUP_SHAPES,
  SNAPSHOT_SHAPE,
  CHANGES_SHAPE,
  CATALOG_SHAPE,
];

/** The name of the shape of a route's documents. */
export const shapeName = ({ name, aliases }: Pick<Route, 'name' | 'aliases'>): string => aliases ?? name;

/** The shape of a route's documents; undefined if they are not our own JSON. */
export const documentOf = (route: string): ObjectShape | undefined =>
  DOCUMENTS.find(({ name }) => name === route);
