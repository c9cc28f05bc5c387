/** Example values of documents that pages have no real response of, from the declarations of their fields. */
import type { ObjectShape, Shape } from '../../../schema/shape.js';

/** A document with the example of each field, and one entry in each list. */
export const exampleOf = ({ members }: Pick<ObjectShape, 'members'>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(members.map((shape): [string, unknown] => [shape.name, valueOf(shape)]));

function valueOf(shape: Shape): unknown {
  switch (shape.is) {
    case 'value':
      return shape.example ?? null;
    case 'values':
      return [shape.of.example ?? null];
    case 'map':
      return exampleOf({ members: [shape.of] });
    case 'object':
      return exampleOf(shape);
    case 'list':
      return [exampleOf(shape)];
  }
}
