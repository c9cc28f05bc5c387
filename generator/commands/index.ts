/** All commands, in the order of `--help`. */
import { addBuild } from './build.js';
import { addCheck } from './check.js';
import { addDiff } from './diff.js';
import { addEdge } from './edge.js';
import { addKeygen } from './keygen.js';
import { addMirror } from './mirror.js';
import { addProve } from './prove.js';
import { addRollback } from './rollback.js';
import { addSample } from './sample.js';
import { addScaffold } from './scaffold.js';
import { addServe } from './serve.js';
import { addSign } from './sign.js';
import { addStatus } from './status.js';
import { addUpload } from './upload.js';
import { addVerify } from './verify.js';
import { addVerifyProof } from './verify-proof.js';

export const COMMANDS = [
  addBuild,
  addCheck,
  addScaffold,
  addDiff,
  addServe,
  addStatus,
  addVerify,
  addRollback,
  addKeygen,
  addSign,
  addUpload,
  addMirror,
  addProve,
  addVerifyProof,
  addEdge,
  addSample,
] as const;
