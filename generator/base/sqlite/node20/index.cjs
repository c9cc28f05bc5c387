// A global installation links this package, which then finds version 13; that crashes Node 20.
if (!require('better-sqlite3/package.json').version.startsWith('12.'))
  throw new Error('expected better-sqlite3 12');
const Database = require('better-sqlite3');
// Throws if its binary was neither fetched nor compiled, as after `npm ci --ignore-scripts`.
new Database(':memory:').close();
module.exports = Database;
