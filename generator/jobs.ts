/** What the threads of a build are asked to do. */
import type { Part, Rendering } from './outputs/details.js';
import { isPart } from './outputs/details.js';
import type { Folders } from './publish/inputs.js';
import type { Places } from './publish/placement.js';
import type { Memory } from './rendering/batches.js';
import type { Placed } from './placing.js';
import type { Scope } from './register/sql.js';
import { isObject } from './threads/messages.js';
import type { Members } from './threads/messages.js';
import { isTurns } from './threads/turns.js';
import type { Turns } from './threads/turns.js';

/** Look for what breaks the contract: those steps of the check that are this thread's. */
interface Check {
  readonly do: 'check';
  readonly scope: Scope;
  readonly turns: Turns;
}

/** Find out what changed in those of the tables that are this thread's. */
interface Survey {
  readonly do: 'survey';
  readonly folders: Folders;
  readonly turns: Turns;
}

/** Render a part of the details, in batches. */
export interface Render {
  readonly do: 'render';
  readonly part: Part;
  readonly rendering: Rendering;
  readonly folders: Folders;
  /** Where the batches lie. */
  readonly memory: Memory;
}

/** Write the files of an export below a folder. */
interface Write {
  readonly do: 'write';
  readonly table: string;
  readonly folder: string;
}

/** Stage documents. */
interface Place {
  readonly do: 'place';
  readonly places: Places;
  readonly placed: Placed;
}

/** Delete those of the folders that are this thread's. */
interface Discard {
  readonly do: 'discard';
  readonly folders: readonly string[];
  readonly turns: Turns;
}

export type Job = Check | Survey | Render | Write | Place | Discard;

/** @throws TypeError: a defect of ours */
export function asJob(message: Members): Job {
  if (isJob(message)) return message;
  throw new TypeError(`not a job: ${String(message['do'])}`);
}

/** As deep as it takes to tell the jobs apart: both ends are ours, and are compiled together. */
function isJob(message: Members): message is Members & Job {
  const { do: what, scope, turns, folders, part, rendering, memory, table, folder, places, placed } = message;
  switch (what) {
    case 'check':
      return typeof scope === 'string' && isTurns(turns);
    case 'survey':
      return isObject(folders) && isTurns(turns);
    case 'render':
      return isPart(part) && isObject(rendering) && isObject(folders) && memory instanceof SharedArrayBuffer;
    case 'write':
      return typeof table === 'string' && typeof folder === 'string';
    case 'place':
      return isObject(places) && isObject(placed);
    case 'discard':
      return Array.isArray(folders) && isTurns(turns);
    default:
      return false;
  }
}
