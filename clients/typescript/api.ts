/** The documents of the service. Made by `npm run client` from the OpenAPI description. */

export interface paths {
  '/api/v1': {
    /** Machine-readable index of the API */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Index'];
          };
        };
      };
    };
  };
  '/api/v1/group/{id}': {
    /** Measured record of one group */
    get: {
      parameters: {
        path: {
          /** @description Numeric group id. */
          id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Group'];
          };
        };
      };
    };
  };
  '/api/v1/user/{id}': {
    /** Measured record of one user */
    get: {
      parameters: {
        path: {
          /** @description Numeric user id. */
          id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['User'];
          };
        };
      };
    };
  };
  '/api/v1/game/{id}': {
    /** Measured record of one game */
    get: {
      parameters: {
        path: {
          /** @description Numeric game id. */
          id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Game'];
          };
        };
      };
    };
  };
  '/api/v1/item/{id}': {
    /** Measured record of one catalogue item */
    get: {
      parameters: {
        path: {
          /** @description Numeric item id. */
          id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Item'];
          };
        };
      };
    };
  };
  '/api/v1/largest': {
    /** The largest measured groups, up to the limit */
    get: {
      parameters: {
        query?: {
          /** @description Maximum number of groups. */
          limit?: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Largest'];
          };
        };
      };
    };
  };
  '/api/v1/stats': {
    /** Register-wide measured totals */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Stats'];
          };
        };
      };
    };
  };
  '/group/{id}/history.json': {
    /** Full member, name and ownership history of one group */
    get: {
      parameters: {
        path: {
          /** @description Numeric group id. */
          id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['GroupHistory'];
          };
        };
      };
    };
  };
  '/user/{id}/usernames.json': {
    /** Observed username history of one user */
    get: {
      parameters: {
        path: {
          /** @description Numeric user id. */
          id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['UserUsernames'];
          };
        };
      };
    };
  };
  '/api/v1/ids': {
    /** Where the lists of all ids begin */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Ids'];
          };
        };
      };
    };
  };
  '/api/v1/ids/group/{first_id}': {
    /** A page of the ids of all groups, in ascending order */
    get: {
      parameters: {
        path: {
          /** @description First group id of the page. */
          first_id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['IdsGroup'];
          };
        };
      };
    };
  };
  '/api/v1/ids/user/{first_id}': {
    /** A page of the ids of all users, in ascending order */
    get: {
      parameters: {
        path: {
          /** @description First user id of the page. */
          first_id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['IdsUser'];
          };
        };
      };
    };
  };
  '/api/v1/ids/game/{first_id}': {
    /** A page of the ids of all games, in ascending order */
    get: {
      parameters: {
        path: {
          /** @description First game id of the page. */
          first_id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['IdsGame'];
          };
        };
      };
    };
  };
  '/api/v1/ids/item/{first_id}': {
    /** A page of the ids of all items, in ascending order */
    get: {
      parameters: {
        path: {
          /** @description First item id of the page. */
          first_id: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['IdsItem'];
          };
        };
      };
    };
  };
  '/api/v1/lookup': {
    /** How to look up records by what is known of them */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Lookup'];
          };
        };
      };
    };
  };
  '/api/v1/lookup/username/{prefix}': {
    /** The users with some present and past names */
    get: {
      parameters: {
        path: {
          /** @description First hexadecimal digits of the SHA-256 of the name in lower case, as many as /api/v1/lookup says. */
          prefix: string;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['LookupUsername'];
          };
        };
      };
    };
  };
  '/api/v1/lookup/group/{prefix}': {
    /** The groups with some present and past names */
    get: {
      parameters: {
        path: {
          /** @description First hexadecimal digits of the SHA-256 of the name in lower case, as many as /api/v1/lookup says. */
          prefix: string;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['LookupGroup'];
          };
        };
      };
    };
  };
  '/api/v1/owners/user/{prefix}': {
    /** The groups that some users own, and the games they created */
    get: {
      parameters: {
        path: {
          /** @description First hexadecimal digits of the SHA-256 of the user id, as many as /api/v1/lookup says. */
          prefix: string;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['OwnersUser'];
          };
        };
      };
    };
  };
  '/api/v1/owners/group/{prefix}': {
    /** The games that some groups created */
    get: {
      parameters: {
        path: {
          /** @description First hexadecimal digits of the SHA-256 of the group id, as many as /api/v1/lookup says. */
          prefix: string;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['OwnersGroup'];
          };
        };
      };
    };
  };
  '/api/v1/largest/games': {
    /** The games with the most players and with the most visits */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['LargestGames'];
          };
        };
      };
    };
  };
  '/api/v1/movers/h24': {
    /** The groups that gained and lost the most members in 24 hours */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['MoversH24'];
          };
        };
      };
    };
  };
  '/api/v1/movers/d7': {
    /** The groups that gained and lost the most members in 7 days */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['MoversD7'];
          };
        };
      };
    };
  };
  '/api/v1/movers/d30': {
    /** The groups that gained and lost the most members in 30 days */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['MoversD30'];
          };
        };
      };
    };
  };
  '/api/v1/recent': {
    /** The newest changes of names and owners, and the newest games and items */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Recent'];
          };
        };
      };
    };
  };
  '/downloads/groups.csv': {
    /** All rows of groups as CSV */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/csv': unknown;
          };
        };
      };
    };
  };
  '/downloads/groups.csv.gz': {
    /** All rows of groups as CSV (gzip) */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/groups.parquet': {
    /** All rows of groups as Parquet */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/vnd.apache.parquet': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_member_readings.csv': {
    /** All rows of group_member_readings as CSV */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/csv': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_member_readings.csv.gz': {
    /** All rows of group_member_readings as CSV (gzip) */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_member_readings.parquet': {
    /** All rows of group_member_readings as Parquet */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/vnd.apache.parquet': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_names.csv': {
    /** All rows of group_names as CSV */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/csv': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_names.csv.gz': {
    /** All rows of group_names as CSV (gzip) */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_names.parquet': {
    /** All rows of group_names as Parquet */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/vnd.apache.parquet': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_owners.csv': {
    /** All rows of group_owners as CSV */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/csv': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_owners.csv.gz': {
    /** All rows of group_owners as CSV (gzip) */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/group_owners.parquet': {
    /** All rows of group_owners as Parquet */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/vnd.apache.parquet': unknown;
          };
        };
      };
    };
  };
  '/downloads/users.csv': {
    /** All rows of users as CSV */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/csv': unknown;
          };
        };
      };
    };
  };
  '/downloads/users.csv.gz': {
    /** All rows of users as CSV (gzip) */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/users.parquet': {
    /** All rows of users as Parquet */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/vnd.apache.parquet': unknown;
          };
        };
      };
    };
  };
  '/downloads/usernames.csv': {
    /** All rows of usernames as CSV */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/csv': unknown;
          };
        };
      };
    };
  };
  '/downloads/usernames.csv.gz': {
    /** All rows of usernames as CSV (gzip) */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/usernames.parquet': {
    /** All rows of usernames as Parquet */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/vnd.apache.parquet': unknown;
          };
        };
      };
    };
  };
  '/downloads/games.csv': {
    /** All rows of games as CSV */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/csv': unknown;
          };
        };
      };
    };
  };
  '/downloads/games.csv.gz': {
    /** All rows of games as CSV (gzip) */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/games.parquet': {
    /** All rows of games as Parquet */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/vnd.apache.parquet': unknown;
          };
        };
      };
    };
  };
  '/downloads/items.csv': {
    /** All rows of items as CSV */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/csv': unknown;
          };
        };
      };
    };
  };
  '/downloads/items.csv.gz': {
    /** All rows of items as CSV (gzip) */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/items.parquet': {
    /** All rows of items as Parquet */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/vnd.apache.parquet': unknown;
          };
        };
      };
    };
  };
  '/downloads/documents/group.ndjson.gz': {
    /** Every document of the route group, in ascending order of id: a line is the body of one */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/documents/group-history.ndjson.gz': {
    /** Every document of the route group-history, in ascending order of id: a line is the body of one */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/documents/user.ndjson.gz': {
    /** Every document of the route user, in ascending order of id: a line is the body of one */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/documents/user-usernames.ndjson.gz': {
    /** Every document of the route user-usernames, in ascending order of id: a line is the body of one */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/documents/game.ndjson.gz': {
    /** Every document of the route game, in ascending order of id: a line is the body of one */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/documents/item.ndjson.gz': {
    /** Every document of the route item, in ascending order of id: a line is the body of one */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/documents/other.ndjson.gz': {
    /** Every other document of the API, the feeds, and the files of the operator: a line has path, sha256, bytes, and body of one, unless it is not text */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/register.sqlite.gz': {
    /** Every table as one SQLite database, with keys, and with the meaning of each column */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/downloads/datapackage.json': {
    /** Data Package that describes every download and every column */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': unknown;
          };
        };
      };
    };
  };
  '/downloads/SHA256SUMS': {
    /** Checksums of the downloads, for sha256sum */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/plain': unknown;
          };
        };
      };
    };
  };
  '/downloads/README.txt': {
    /** What the downloads contain and how to read them */
    get: {
      responses: {
        200: {
          content: {
            readonly 'text/plain': unknown;
          };
        };
      };
    };
  };
  '/feeds/all.atom': {
    /** New names and owners of groups, new usernames, and games and items measured for the first time */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/atom+xml': unknown;
          };
        };
      };
    };
  };
  '/feeds/all.json': {
    /** New names and owners of groups, new usernames, and games and items measured for the first time */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/feed+json': unknown;
          };
        };
      };
    };
  };
  '/feeds/groups.atom': {
    /** Groups with a new name or a new owner */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/atom+xml': unknown;
          };
        };
      };
    };
  };
  '/feeds/groups.json': {
    /** Groups with a new name or a new owner */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/feed+json': unknown;
          };
        };
      };
    };
  };
  '/feeds/groups/{month}.atom': {
    /** Groups with a new name or a new owner: older entries, by month of measurement */
    get: {
      parameters: {
        path: {
          /** @description A month, such as 2026-11, or a numbered part of one, such as 2026-11-00001. */
          month: string;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/atom+xml': unknown;
          };
        };
      };
    };
  };
  '/feeds/users.atom': {
    /** Users with a new username */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/atom+xml': unknown;
          };
        };
      };
    };
  };
  '/feeds/users.json': {
    /** Users with a new username */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/feed+json': unknown;
          };
        };
      };
    };
  };
  '/feeds/users/{month}.atom': {
    /** Users with a new username: older entries, by month of measurement */
    get: {
      parameters: {
        path: {
          /** @description A month, such as 2026-11, or a numbered part of one, such as 2026-11-00001. */
          month: string;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/atom+xml': unknown;
          };
        };
      };
    };
  };
  '/feeds/games.atom': {
    /** Games measured for the first time */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/atom+xml': unknown;
          };
        };
      };
    };
  };
  '/feeds/games.json': {
    /** Games measured for the first time */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/feed+json': unknown;
          };
        };
      };
    };
  };
  '/feeds/items.atom': {
    /** Catalogue items measured for the first time */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/atom+xml': unknown;
          };
        };
      };
    };
  };
  '/feeds/items.json': {
    /** Catalogue items measured for the first time */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/feed+json': unknown;
          };
        };
      };
    };
  };
  '/feeds/snapshots.atom': {
    /** Every snapshot in which records changed, with the number of those added, changed and removed */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/atom+xml': unknown;
          };
        };
      };
    };
  };
  '/feeds/snapshots.json': {
    /** Every snapshot in which records changed, with the number of those added, changed and removed */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/feed+json': unknown;
          };
        };
      };
    };
  };
  '/api/v1/openapi.json': {
    /** OpenAPI 3.1 description of the API */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': unknown;
          };
        };
      };
    };
  };
  '/snapshot.json': {
    /** The published snapshot: its number, time, contents and size */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Snapshot'];
          };
        };
      };
    };
  };
  '/changes/index.json': {
    /** The newest snapshots and what each of them changed */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['Changes'];
          };
        };
      };
    };
  };
  '/changes/{sequence}.json': {
    /** Every URL that one snapshot added, changed or removed */
    get: {
      parameters: {
        path: {
          /** @description Number of the snapshot. */
          sequence: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/json': components['schemas']['ChangeList'];
          };
        };
      };
    };
  };
  '/changes/{sequence}.ndjson.gz': {
    /** The bodies of all documents that one snapshot changed */
    get: {
      parameters: {
        path: {
          /** @description Number of the snapshot. */
          sequence: number;
        };
      };
      responses: {
        200: {
          content: {
            readonly 'application/gzip': unknown;
          };
        };
      };
    };
  };
  '/.well-known/api-catalog': {
    /** Catalog with links to the API and its description */
    get: {
      responses: {
        200: {
          content: {
            readonly 'application/linkset+json': unknown;
          };
        };
      };
    };
  };
}

export type webhooks = Record<string, never>;

export interface components {
  schemas: {
    /** @description Every URL that one snapshot added, changed or removed. */
    readonly ChangeList: {
      /** @description Identifies the tree. One that starts over has another. */
      readonly tree: string;
      /**
       * Format: int64
       * @description Number of the snapshot that it starts from.
       */
      readonly from: number;
      /**
       * Format: int64
       * @description Number of the snapshot that it leads to.
       */
      readonly to: number;
      /** @description Digest of the snapshot that it starts from. */
      readonly from_digest: string;
      /** @description Digest of the snapshot that it leads to. */
      readonly to_digest: string;
      /** @description Documents that are new or changed: fetch them. */
      readonly put: readonly {
        /** @description Path to request, relative to the base URL. With {limit} in it, it stands for all values of the parameter. */
        readonly path: string;
        /** @description SHA-256 of the document; of several, over their lines in the digest. */
        readonly sha256: string;
        /**
         * Format: int64
         * @description Size of the document, or of all of them. Unit: bytes.
         */
        readonly bytes: number;
        /**
         * Format: int64
         * @description How many documents the entry stands for, if it is not one.
         */
        readonly documents?: number;
      }[];
      /** @description Documents that were removed: delete them. */
      readonly delete: readonly string[];
    };
    /** @description The newest snapshots and what each of them changed. */
    readonly Changes: {
      /** @description Identifies the tree. One that starts over has another. */
      readonly tree: string;
      /**
       * Format: int64
       * @description Number of the published snapshot.
       */
      readonly sequence: number;
      /** @description Digest of the published snapshot. */
      readonly digest: string;
      /**
       * Format: int64
       * @description Number of the oldest snapshot from which the bundles lead to this one. An older copy has to start over.
       */
      readonly oldest: number;
      /** @description The snapshot that the bulk downloads belong to, which may be older. */
      readonly downloads?: {
        /**
         * Format: int64
         * @description Number of that snapshot.
         */
        readonly sequence: number;
        /** @description Digest of that snapshot. */
        readonly digest: string;
      };
      /** @description The snapshots, newest first. */
      readonly changes: readonly {
        /**
         * Format: int64
         * @description Number of the snapshot.
         */
        readonly sequence: number;
        /**
         * Format: int64
         * @description Number of the snapshot before it; null if it has no change list.
         */
        readonly from: number | null;
        /** @description Digest of the snapshot before it; null if it has no change list. */
        readonly from_digest: string | null;
        /** @description Digest of the snapshot. */
        readonly digest: string;
        /**
         * Format: date-time
         * @description Time of the newest measurement in it; null if it is empty.
         */
        readonly as_of: string | null;
        /**
         * Format: date-time
         * @description When the snapshot was built.
         */
        readonly built_at: string;
        /** @description Number of records of each kind that it added, changed and removed, if known. */
        readonly counts: {
          /** @description Changes to groups. */
          readonly groups?: {
            /**
             * Format: int64
             * @description Number of groups added. Unit: groups.
             */
            readonly added: number;
            /**
             * Format: int64
             * @description Number of groups changed. Unit: groups.
             */
            readonly changed: number;
            /**
             * Format: int64
             * @description Number of groups removed. Unit: groups.
             */
            readonly removed: number;
          };
          /** @description Changes to users. */
          readonly users?: {
            /**
             * Format: int64
             * @description Number of users added. Unit: users.
             */
            readonly added: number;
            /**
             * Format: int64
             * @description Number of users changed. Unit: users.
             */
            readonly changed: number;
            /**
             * Format: int64
             * @description Number of users removed. Unit: users.
             */
            readonly removed: number;
          };
          /** @description Changes to games. */
          readonly games?: {
            /**
             * Format: int64
             * @description Number of games added. Unit: games.
             */
            readonly added: number;
            /**
             * Format: int64
             * @description Number of games changed. Unit: games.
             */
            readonly changed: number;
            /**
             * Format: int64
             * @description Number of games removed. Unit: games.
             */
            readonly removed: number;
          };
          /** @description Changes to items. */
          readonly items?: {
            /**
             * Format: int64
             * @description Number of items added. Unit: items.
             */
            readonly added: number;
            /**
             * Format: int64
             * @description Number of items changed. Unit: items.
             */
            readonly changed: number;
            /**
             * Format: int64
             * @description Number of items removed. Unit: items.
             */
            readonly removed: number;
          };
        };
        /**
         * Format: uri-reference
         * @description Path of its change list; null if it has none.
         */
        readonly file: string | null;
        /**
         * Format: int64
         * @description Size of the change list; null if it has none. Unit: bytes.
         */
        readonly bytes: number | null;
        /** @description SHA-256 of the change list; null if it has none. */
        readonly sha256: string | null;
        /** @description The bodies of all documents that it changed; null if they are too large or not kept. */
        readonly bundle: {
          /**
           * Format: uri-reference
           * @description Path of the bundle.
           */
          readonly file: string;
          /**
           * Format: int64
           * @description Size of the bundle. Unit: bytes.
           */
          readonly bytes: number;
          /** @description SHA-256 of the bundle. */
          readonly sha256: string;
        } | null;
      }[];
    };
    /** @description The user or group that created it. */
    readonly Creator: {
      /** @description Whether the creator is a user or a group. Words: `user`, `group`. Others may be added. Null: not measured. */
      readonly type: 'user' | 'group' | (string & {}) | null;
      /**
       * Format: int64
       * @description Id of the creator. Null: not measured.
       */
      readonly id: number | null;
      /** @description Name of the creator when it was read. Null: not measured. */
      readonly name: string | null;
    };
    /** @description The measured record of one game. */
    readonly Game: {
      /**
       * Format: int64
       * @description Stable numeric id of the game.
       */
      readonly id: number;
      /**
       * Format: int64
       * @description Id of the place where players start, which is not the id of the game. Null: not measured.
       */
      readonly root_place_id: number | null;
      /** @description Name of the game, exactly as read. Null: not measured. */
      readonly name: string | null;
      /** @description State of the game on the platform. Words: `present` (the platform shows it), `restricted` (the platform shows it, but not everybody may play it), `deleted` (the platform no longer has it). Others may be added. Null: not measured. */
      readonly state: 'present' | 'restricted' | 'deleted' | (string & {}) | null;
      /** @description Description, exactly as read. Null: not measured. */
      readonly description: string | null;
      /** @description The user or group that created it. Null: not measured, or withheld. */
      readonly creator: components['schemas']['Creator'] | null;
      /** @description Whether access to the game is free or paid. Words: `free` (it costs nothing), `paid` (it has a price). Others may be added. Null: not measured. */
      readonly access: 'free' | 'paid' | (string & {}) | null;
      /**
       * Format: int64
       * @description Price of access to the game. Unit: currency units. Null: not measured, or access is free.
       */
      readonly price: number | null;
      /**
       * Format: int64
       * @description Players in the game when it was measured. Unit: players. Null: not measured.
       */
      readonly playing: number | null;
      /**
       * Format: int64
       * @description Total visits to date. Unit: visits. Null: not measured.
       */
      readonly visits: number | null;
      /**
       * Format: int64
       * @description Users who have marked it as a favourite. Unit: users. Null: not measured.
       */
      readonly favourites: number | null;
      /**
       * Format: int64
       * @description Votes for the game. Unit: votes. Null: not measured.
       */
      readonly up_votes: number | null;
      /**
       * Format: int64
       * @description Votes against the game. Unit: votes. Null: not measured.
       */
      readonly down_votes: number | null;
      /**
       * Format: int64
       * @description Maximum number of players on one server. Unit: players. Null: not measured.
       */
      readonly max_players: number | null;
      /** @description Genre, as named by the platform. Null: not measured. */
      readonly genre: string | null;
      /**
       * Format: date-time
       * @description When the game was created, according to the platform. Null: not measured.
       */
      readonly created_at: string | null;
      /**
       * Format: date-time
       * @description When the game was last updated, according to the platform. Null: not measured.
       */
      readonly updated_at: string | null;
      /**
       * Format: date-time
       * @description When the register first measured the record.
       */
      readonly first_measured_at: string;
      /**
       * Format: date-time
       * @description When the register last measured the record.
       */
      readonly measured_at: string;
      /**
       * Format: int64
       * @description Number of times the record has been measured. Unit: measurements.
       */
      readonly measurements: number;
      /** @description Paths of this record and that of its creator. */
      readonly links: {
        /**
         * Format: uri-reference
         * @description Path of the game.
         */
        readonly self: string;
        /**
         * Format: uri-reference
         * @description Path of the record of the creator; the register may not have that record. Null if the id of the creator is not published.
         */
        readonly creator: string | null;
      };
    };
    /** @description The measured record of one group. */
    readonly Group: {
      /**
       * Format: int64
       * @description Stable numeric id of the group.
       */
      readonly id: number;
      /** @description Name of the group, exactly as read. Null: not measured. */
      readonly name: string | null;
      /** @description State of the group on the platform. Words: `present` (the platform shows it), `locked` (the platform shows it, but has closed it to everybody), `deleted` (the platform no longer has it). Others may be added. Null: not measured. */
      readonly state: 'present' | 'locked' | 'deleted' | (string & {}) | null;
      /** @description Description, exactly as read. Null: not measured. */
      readonly description: string | null;
      /** @description Whether the group has an owner. Words: `owned` (it has an owner), `none` (it has no owner). Others may be added. Null: not measured. */
      readonly owner_state: 'owned' | 'none' | (string & {}) | null;
      /** @description The user who owns the group. Null: no owner, or the owner was not measured or is withheld. */
      readonly owner: components['schemas']['Owner'] | null;
      /**
       * Format: int64
       * @description Number of members in the group. Unit: members. Null: not measured.
       */
      readonly member_count: number | null;
      /** @description Whether anyone can join without approval. Null: not measured. */
      readonly public_entry: boolean | null;
      /** @description Whether the platform marks the group as verified. Null: not measured. */
      readonly verified: boolean | null;
      /**
       * Format: date-time
       * @description When the group was created, according to the platform. Null: not measured.
       */
      readonly created_at: string | null;
      /** @description The highest member count that this register has read. On the platform, it may have been higher between two readings. Null: no reading of the member count. */
      readonly peak: {
        /**
         * Format: int64
         * @description Highest member count of all readings in this register. On the platform, it may have been higher between two readings. Unit: members.
         */
        readonly member_count: number;
        /**
         * Format: date-time
         * @description When this register read its highest member count; the earliest such reading.
         */
        readonly measured_at: string;
      } | null;
      /** @description Change of the member count over three windows, each between two readings. */
      readonly change: {
        /** @description Change over 24 hours: from the newest reading that is at least 24 hours older than the latest one, to the latest. Null: no reading from 24 to 36 hours before the latest. */
        readonly h24: {
          /**
           * Format: int64
           * @description Change of the member count over 24 hours: the latest reading minus the one at least 24 hours before it. Unit: members.
           */
          readonly delta: number;
          /**
           * Format: int64
           * @description Member count at the reading that the latest is compared with, at least 24 hours before it. Unit: members.
           */
          readonly from: number;
          /**
           * Format: int64
           * @description Member count at the latest reading, which is compared with one at least 24 hours before it. Unit: members.
           */
          readonly to: number;
          /**
           * Format: date-time
           * @description Time of the reading that the latest is compared with, at least 24 hours before it.
           */
          readonly from_at: string;
          /**
           * Format: date-time
           * @description Time of the latest reading, which is compared with one at least 24 hours before it.
           */
          readonly to_at: string;
        } | null;
        /** @description Change over 7 days: from the newest reading that is at least 7 days older than the latest one, to the latest. Null: no reading from 7 to 10.5 days before the latest. */
        readonly d7: {
          /**
           * Format: int64
           * @description Change of the member count over 7 days: the latest reading minus the one at least 7 days before it. Unit: members.
           */
          readonly delta: number;
          /**
           * Format: int64
           * @description Member count at the reading that the latest is compared with, at least 7 days before it. Unit: members.
           */
          readonly from: number;
          /**
           * Format: int64
           * @description Member count at the latest reading, which is compared with one at least 7 days before it. Unit: members.
           */
          readonly to: number;
          /**
           * Format: date-time
           * @description Time of the reading that the latest is compared with, at least 7 days before it.
           */
          readonly from_at: string;
          /**
           * Format: date-time
           * @description Time of the latest reading, which is compared with one at least 7 days before it.
           */
          readonly to_at: string;
        } | null;
        /** @description Change over 30 days: from the newest reading that is at least 30 days older than the latest one, to the latest. Null: no reading from 30 to 45 days before the latest. */
        readonly d30: {
          /**
           * Format: int64
           * @description Change of the member count over 30 days: the latest reading minus the one at least 30 days before it. Unit: members.
           */
          readonly delta: number;
          /**
           * Format: int64
           * @description Member count at the reading that the latest is compared with, at least 30 days before it. Unit: members.
           */
          readonly from: number;
          /**
           * Format: int64
           * @description Member count at the latest reading, which is compared with one at least 30 days before it. Unit: members.
           */
          readonly to: number;
          /**
           * Format: date-time
           * @description Time of the reading that the latest is compared with, at least 30 days before it.
           */
          readonly from_at: string;
          /**
           * Format: date-time
           * @description Time of the latest reading, which is compared with one at least 30 days before it.
           */
          readonly to_at: string;
        } | null;
      };
      /**
       * Format: date-time
       * @description When the register first measured the record.
       */
      readonly first_measured_at: string;
      /**
       * Format: date-time
       * @description When the register last measured the record.
       */
      readonly measured_at: string;
      /**
       * Format: int64
       * @description Number of times the record has been measured. Unit: measurements.
       */
      readonly measurements: number;
      /** @description Paths of this record, its history, and the record of its owner. */
      readonly links: {
        /**
         * Format: uri-reference
         * @description Path of the group.
         */
        readonly self: string;
        /**
         * Format: uri-reference
         * @description Path of the history of the group.
         */
        readonly history: string;
        /**
         * Format: uri-reference
         * @description Path of the record of the owner; the register may not have that record. Null if the id of the owner is not published.
         */
        readonly owner: string | null;
      };
    };
    /** @description The history of one group. */
    readonly GroupHistory: {
      /**
       * Format: int64
       * @description Stable numeric id of the group.
       */
      readonly id: number;
      /** @description Name of the group, exactly as read. Null: not measured. */
      readonly name: string | null;
      /** @description Every reading of a group’s member count, oldest first. Gaps are not filled in. Null: not measured. */
      readonly members:
        | readonly {
            /**
             * Format: date-time
             * @description When the member count was read.
             */
            readonly measured_at: string;
            /**
             * Format: int64
             * @description Number of members in the group. Unit: members.
             */
            readonly member_count: number;
          }[]
        | null;
      /** @description Names that a group has been observed with, oldest first. Null: not measured. */
      readonly names:
        | readonly {
            /**
             * Format: int64
             * @description Position in the history; 1 is the oldest entry.
             */
            readonly position: number;
            /** @description Name of the group, exactly as read. */
            readonly name: string;
            /** @description Whether this is the newest entry. */
            readonly is_current: boolean;
            /**
             * Format: date-time
             * @description When this entry was first read.
             */
            readonly first_measured_at: string;
            /**
             * Format: date-time
             * @description When this entry was last read.
             */
            readonly last_measured_at: string;
            /**
             * Format: date-time
             * @description When the change happened, according to the platform. Null: the platform gives no date.
             */
            readonly changed_at: string | null;
            /**
             * Format: date-time
             * @description When the previous entry was last read; the change happened later. Null: no readings bound the change.
             */
            readonly changed_after: string | null;
            /**
             * Format: date-time
             * @description When this entry was first read; the change happened earlier. Null: no readings bound the change.
             */
            readonly changed_before: string | null;
          }[]
        | null;
      /** @description Owners that a group has been observed with, oldest first. Null: not measured. */
      readonly owners:
        | readonly {
            /**
             * Format: int64
             * @description Position in the history; 1 is the oldest entry.
             */
            readonly position: number;
            /** @description Whether the group has an owner. Words: `owned` (it has an owner), `none` (it has no owner). Others may be added. */
            readonly owner_state: 'owned' | 'none' | (string & {});
            /** @description The user who owns the group. Null: no owner, or the owner was not measured or is withheld. */
            readonly owner: components['schemas']['Owner'] | null;
            /** @description Whether this is the newest entry. */
            readonly is_current: boolean;
            /**
             * Format: date-time
             * @description When this entry was first read.
             */
            readonly first_measured_at: string;
            /**
             * Format: date-time
             * @description When this entry was last read.
             */
            readonly last_measured_at: string;
            /**
             * Format: date-time
             * @description When the previous entry was last read; the change happened later. Null: no readings bound the change.
             */
            readonly changed_after: string | null;
            /**
             * Format: date-time
             * @description When this entry was first read; the change happened earlier. Null: no readings bound the change.
             */
            readonly changed_before: string | null;
          }[]
        | null;
      /** @description Paths of this history and its record. */
      readonly links: {
        /**
         * Format: uri-reference
         * @description Path of the history of the group.
         */
        readonly self: string;
        /**
         * Format: uri-reference
         * @description Path of the group.
         */
        readonly group: string;
      };
    };
    /** @description Where the pages of all ids begin, by kind. */
    readonly Ids: {
      /** @description The ids of each kind of records. */
      readonly kinds: {
        /** @description The ids of all groups. Null: not measured. */
        readonly group: {
          /**
           * Format: int64
           * @description Number of published groups. Unit: groups.
           */
          readonly records: number;
          /**
           * Format: int64
           * @description Number of pages. Unit: pages.
           */
          readonly pages: number;
          /**
           * Format: uri-reference
           * @description Path of the first page; null if there are no records.
           */
          readonly first: string | null;
        } | null;
        /** @description The ids of all users. Null: not measured. */
        readonly user: {
          /**
           * Format: int64
           * @description Number of published users. Unit: users.
           */
          readonly records: number;
          /**
           * Format: int64
           * @description Number of pages. Unit: pages.
           */
          readonly pages: number;
          /**
           * Format: uri-reference
           * @description Path of the first page; null if there are no records.
           */
          readonly first: string | null;
        } | null;
        /** @description The ids of all games. Null: not measured. */
        readonly game: {
          /**
           * Format: int64
           * @description Number of published games. Unit: games.
           */
          readonly records: number;
          /**
           * Format: int64
           * @description Number of pages. Unit: pages.
           */
          readonly pages: number;
          /**
           * Format: uri-reference
           * @description Path of the first page; null if there are no records.
           */
          readonly first: string | null;
        } | null;
        /** @description The ids of all items. Null: not measured. */
        readonly item: {
          /**
           * Format: int64
           * @description Number of published items. Unit: items.
           */
          readonly records: number;
          /**
           * Format: int64
           * @description Number of pages. Unit: pages.
           */
          readonly pages: number;
          /**
           * Format: uri-reference
           * @description Path of the first page; null if there are no records.
           */
          readonly first: string | null;
        } | null;
      };
    };
    /** @description A page of the ids of all games. */
    readonly IdsGame: {
      /** @description Kind of the records. Words: `group`, `user`, `game`, `item`. Others may be added. */
      readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
      /**
       * Format: int64
       * @description The first id of the page.
       */
      readonly first_id: number;
      /**
       * Format: int64
       * @description The last id of the page.
       */
      readonly last_id: number;
      /**
       * Format: int64
       * @description Number of ids in the page. Unit: ids.
       */
      readonly count: number;
      /** @description The ids of all published records from the first to the last, in ascending order. */
      readonly ids: readonly number[];
      /**
       * Format: uri-reference
       * @description Path of the next page; null for the last one.
       */
      readonly next: string | null;
    };
    /** @description A page of the ids of all groups. */
    readonly IdsGroup: {
      /** @description Kind of the records. Words: `group`, `user`, `game`, `item`. Others may be added. */
      readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
      /**
       * Format: int64
       * @description The first id of the page.
       */
      readonly first_id: number;
      /**
       * Format: int64
       * @description The last id of the page.
       */
      readonly last_id: number;
      /**
       * Format: int64
       * @description Number of ids in the page. Unit: ids.
       */
      readonly count: number;
      /** @description The ids of all published records from the first to the last, in ascending order. */
      readonly ids: readonly number[];
      /**
       * Format: uri-reference
       * @description Path of the next page; null for the last one.
       */
      readonly next: string | null;
    };
    /** @description A page of the ids of all items. */
    readonly IdsItem: {
      /** @description Kind of the records. Words: `group`, `user`, `game`, `item`. Others may be added. */
      readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
      /**
       * Format: int64
       * @description The first id of the page.
       */
      readonly first_id: number;
      /**
       * Format: int64
       * @description The last id of the page.
       */
      readonly last_id: number;
      /**
       * Format: int64
       * @description Number of ids in the page. Unit: ids.
       */
      readonly count: number;
      /** @description The ids of all published records from the first to the last, in ascending order. */
      readonly ids: readonly number[];
      /**
       * Format: uri-reference
       * @description Path of the next page; null for the last one.
       */
      readonly next: string | null;
    };
    /** @description A page of the ids of all users. */
    readonly IdsUser: {
      /** @description Kind of the records. Words: `group`, `user`, `game`, `item`. Others may be added. */
      readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
      /**
       * Format: int64
       * @description The first id of the page.
       */
      readonly first_id: number;
      /**
       * Format: int64
       * @description The last id of the page.
       */
      readonly last_id: number;
      /**
       * Format: int64
       * @description Number of ids in the page. Unit: ids.
       */
      readonly count: number;
      /** @description The ids of all published records from the first to the last, in ascending order. */
      readonly ids: readonly number[];
      /**
       * Format: uri-reference
       * @description Path of the next page; null for the last one.
       */
      readonly next: string | null;
    };
    /** @description The API, its terms and its endpoints. */
    readonly Index: {
      /** @description Name of the register. */
      readonly name: string;
      /**
       * Format: int64
       * @description Version of the API, also part of the base path.
       */
      readonly version: number;
      /**
       * Format: uri-reference
       * @description Prefix of the paths of the API.
       */
      readonly base: string;
      /** @description How the data may be used and whom to credit. */
      readonly licence: string;
      /** @description Rate limits for each client. */
      readonly rate_limit: string;
      /**
       * Format: uri-reference
       * @description Path of the documentation page for developers.
       */
      readonly docs: string;
      /** @description Every endpoint of the API. */
      readonly endpoints: readonly {
        /** @description Always GET. Words: `GET`. Others may be added. */
        readonly method: 'GET' | (string & {});
        /** @description Path, with its parameters in braces. */
        readonly path: string;
        /** @description What it returns. */
        readonly description: string;
        /** @description Its parameters, if it has any. */
        readonly parameters?: readonly {
          /** @description Name, as used in the URL. */
          readonly name: string;
          /** @description Whether it is part of the path or of the query. Words: `path`, `query`. Others may be added. */
          readonly in: 'path' | 'query' | (string & {});
          /** @description An id, an integer within bounds, a month (2026-11, or a numbered part of one), lower-case hexadecimal digits, or the name of an asset. Words: `id`, `integer`, `month`, `prefix`, `asset`. Others may be added. */
          readonly type: 'id' | 'integer' | 'month' | 'prefix' | 'asset' | (string & {});
          /**
           * Format: int64
           * @description Lowest value allowed; absent for a path parameter.
           */
          readonly minimum?: number;
          /**
           * Format: int64
           * @description Highest value allowed; absent for a path parameter.
           */
          readonly maximum?: number;
          /**
           * Format: int64
           * @description Value used if it is left out; absent for a path parameter.
           */
          readonly default?: number;
          /** @description What it means. */
          readonly description: string;
        }[];
      }[];
      /**
       * Format: uri-reference
       * @description Path of the bulk downloads.
       */
      readonly bulk: string;
      /**
       * Format: uri-reference
       * @description Path of the feeds.
       */
      readonly feeds: string;
    };
    /** @description The measured record of one item. */
    readonly Item: {
      /**
       * Format: int64
       * @description Stable numeric id of the item (its asset id).
       */
      readonly id: number;
      /** @description Name of the item, exactly as read. Null: not measured. */
      readonly name: string | null;
      /** @description State of the item on the platform. Words: `present` (the platform shows it), `deleted` (the platform no longer has it). Others may be added. Null: not measured. */
      readonly state: 'present' | 'deleted' | (string & {}) | null;
      /** @description Description, exactly as read. Null: not measured. */
      readonly description: string | null;
      /** @description Type of the item, as defined by the platform. Null: not measured. */
      readonly asset_type: {
        /**
         * Format: int64
         * @description Numeric id of the asset type. Null: not measured.
         */
        readonly id: number | null;
        /** @description Name of the asset type. Null: not measured. */
        readonly name: string | null;
      } | null;
      /** @description The user or group that created it. Null: not measured, or withheld. */
      readonly creator: components['schemas']['Creator'] | null;
      /** @description Whether the catalogue has a price for the item. Words: `priced` (it has a price), `free` (it costs nothing), `unlisted` (it has no price there, though its owners may resell it). Others may be added. Null: not measured. */
      readonly price_state: 'priced' | 'free' | 'unlisted' | (string & {}) | null;
      /**
       * Format: int64
       * @description Price in the catalogue. Unit: currency units. Null: not measured, or price_state is unlisted.
       */
      readonly price: number | null;
      /** @description Whether the item is off sale. Null: not measured. */
      readonly off_sale: boolean | null;
      /** @description Whether copies are limited in number and can be resold. Null: not measured. */
      readonly limited: boolean | null;
      /**
       * Format: int64
       * @description Lowest asking price for a resale. Unit: currency units. Null: not measured, or the item is not limited.
       */
      readonly lowest_resale_price: number | null;
      /**
       * Format: int64
       * @description Average price of recent resales. Unit: currency units. Null: not measured, or the item is not limited.
       */
      readonly recent_average_price: number | null;
      /**
       * Format: int64
       * @description Number of copies ever offered. Unit: copies. Null: not measured, or the item is not limited.
       */
      readonly quantity_total: number | null;
      /**
       * Format: int64
       * @description Number of copies still on offer. Unit: copies. Null: not measured, or the item is not limited.
       */
      readonly quantity_remaining: number | null;
      /**
       * Format: int64
       * @description Users who have marked it as a favourite. Unit: users. Null: not measured.
       */
      readonly favourites: number | null;
      /**
       * Format: date-time
       * @description When the item was created, according to the platform. Null: not measured.
       */
      readonly created_at: string | null;
      /**
       * Format: date-time
       * @description When the item was last updated, according to the platform. Null: not measured.
       */
      readonly updated_at: string | null;
      /**
       * Format: date-time
       * @description When the register first measured the record.
       */
      readonly first_measured_at: string;
      /**
       * Format: date-time
       * @description When the register last measured the record.
       */
      readonly measured_at: string;
      /**
       * Format: int64
       * @description Number of times the record has been measured. Unit: measurements.
       */
      readonly measurements: number;
      /** @description Paths of this record and that of its creator. */
      readonly links: {
        /**
         * Format: uri-reference
         * @description Path of the item.
         */
        readonly self: string;
        /**
         * Format: uri-reference
         * @description Path of the record of the creator; the register may not have that record. Null if the id of the creator is not published.
         */
        readonly creator: string | null;
      };
    };
    /** @description The largest groups by measured member count. Deleted groups and groups without a measured count are left out. */
    readonly Largest: {
      /**
       * Format: int64
       * @description The limit that was applied. Unit: groups.
       */
      readonly limit: number;
      /**
       * Format: date-time
       * @description Time of the newest measurement in the register; null if it is empty.
       */
      readonly as_of: string | null;
      /**
       * Format: date-time
       * @description Time of the oldest measurement in this list; null if the list is empty.
       */
      readonly oldest_measured_at: string | null;
      /**
       * Format: date-time
       * @description Time of the newest measurement in this list; null if the list is empty.
       */
      readonly newest_measured_at: string | null;
      /** @description The groups, largest first. Groups with equal counts are in order of id. */
      readonly groups: readonly {
        /**
         * Format: int64
         * @description Rank by member count. Groups with equal counts share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the group.
         */
        readonly id: number;
        /** @description Name of the group, exactly as read. Null: not measured. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Number of members in the group. Unit: members.
         */
        readonly member_count: number;
        /**
         * Format: date-time
         * @description When the register last measured the record.
         */
        readonly measured_at: string;
        /** @description Whether the group has an owner. Words: `owned` (it has an owner), `none` (it has no owner). Others may be added. Null: not measured. */
        readonly owner_state: 'owned' | 'none' | (string & {}) | null;
        /** @description The user who owns the group. Null: no owner, or the owner was not measured or is withheld. */
        readonly owner: components['schemas']['Owner'] | null;
      }[];
    };
    /** @description The 200 largest games by measured players and by measured visits. Deleted games and games without a measured number are left out. */
    readonly LargestGames: {
      /**
       * Format: date-time
       * @description Time of the newest measurement in the register; null if it is empty.
       */
      readonly as_of: string | null;
      /** @description The games with the most players, most first. Games with equal numbers are in order of id. */
      readonly playing: readonly {
        /**
         * Format: int64
         * @description Rank by players. Games with equal numbers share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the game.
         */
        readonly id: number;
        /** @description Name of the game, exactly as read. Null: not measured. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Players in the game when it was measured. Unit: players.
         */
        readonly playing: number;
        /**
         * Format: int64
         * @description Total visits to date. Unit: visits. Null: not measured.
         */
        readonly visits: number | null;
        /**
         * Format: date-time
         * @description When the register last measured the record.
         */
        readonly measured_at: string;
        /** @description The user or group that created it. Null: not measured, or withheld. */
        readonly creator: components['schemas']['Creator'] | null;
      }[];
      /** @description The games with the most visits, most first. Games with equal numbers are in order of id. */
      readonly visits: readonly {
        /**
         * Format: int64
         * @description Rank by visits. Games with equal numbers share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the game.
         */
        readonly id: number;
        /** @description Name of the game, exactly as read. Null: not measured. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Players in the game when it was measured. Unit: players. Null: not measured.
         */
        readonly playing: number | null;
        /**
         * Format: int64
         * @description Total visits to date. Unit: visits.
         */
        readonly visits: number;
        /**
         * Format: date-time
         * @description When the register last measured the record.
         */
        readonly measured_at: string;
        /** @description The user or group that created it. Null: not measured, or withheld. */
        readonly creator: components['schemas']['Creator'] | null;
      }[];
    };
    /** @description How to look up records by what is known of them. */
    readonly Lookup: {
      /** @description From a name to the records that have or had it. */
      readonly lookup: {
        /** @description The hash, of whose lower-case hexadecimal digits the prefix is the first. */
        readonly hash: string;
        /** @description Names of users. Null: not measured. */
        readonly username: {
          /** @description Template of the paths. */
          readonly path: string;
          /**
           * Format: int64
           * @description How many hexadecimal digits of the hash the prefix has. Unit: digits.
           */
          readonly digits: number;
        } | null;
        /** @description Names of groups. Null: not measured. */
        readonly group: {
          /** @description Template of the paths. */
          readonly path: string;
          /**
           * Format: int64
           * @description How many hexadecimal digits of the hash the prefix has. Unit: digits.
           */
          readonly digits: number;
        } | null;
      };
      /** @description From an owner to its groups and games. */
      readonly owners: {
        /** @description The hash, of whose lower-case hexadecimal digits the prefix is the first. */
        readonly hash: string;
        /** @description Owners that are users. Null: not measured. */
        readonly user: {
          /** @description Template of the paths. */
          readonly path: string;
          /**
           * Format: int64
           * @description How many hexadecimal digits of the hash the prefix has. Unit: digits.
           */
          readonly digits: number;
        } | null;
        /** @description Owners that are groups. Null: not measured. */
        readonly group: {
          /** @description Template of the paths. */
          readonly path: string;
          /**
           * Format: int64
           * @description How many hexadecimal digits of the hash the prefix has. Unit: digits.
           */
          readonly digits: number;
        } | null;
      };
    };
    /** @description The groups that have or had some names. */
    readonly LookupGroup: {
      /** @description The prefix, in lower-case hexadecimal digits. */
      readonly prefix: string;
      /** @description All names whose hash has the prefix, in order of their code points. */
      readonly names: readonly {
        /** @description The name as it is hashed: NFKC(lower(NFKC(name))). */
        readonly name: string;
        /** @description The records that have or had the name, in order of id. A record has one entry for each spelling. */
        readonly matches: readonly {
          /**
           * Format: int64
           * @description Id of the record.
           */
          readonly id: number;
          /** @description The name, exactly as read. */
          readonly name: string;
          /** @description Whether it is the newest name of the record. */
          readonly is_current: boolean;
        }[];
      }[];
    };
    /** @description The users that have or had some names. */
    readonly LookupUsername: {
      /** @description The prefix, in lower-case hexadecimal digits. */
      readonly prefix: string;
      /** @description All names whose hash has the prefix, in order of their code points. */
      readonly names: readonly {
        /** @description The name as it is hashed: NFKC(lower(NFKC(name))). */
        readonly name: string;
        /** @description The records that have or had the name, in order of id. A record has one entry for each spelling. */
        readonly matches: readonly {
          /**
           * Format: int64
           * @description Id of the record.
           */
          readonly id: number;
          /** @description The name, exactly as read. */
          readonly name: string;
          /** @description Whether it is the newest name of the record. */
          readonly is_current: boolean;
        }[];
      }[];
    };
    /** @description The 200 largest gains and losses of members over 30 days, each between two readings, as in `change.d30` of a group. Deleted groups are left out. */
    readonly MoversD30: {
      /** @description The window: 30 days. Words: `d30`. Others may be added. */
      readonly window: 'd30' | (string & {});
      /**
       * Format: date-time
       * @description Time of the newest measurement in the register; null if it is empty.
       */
      readonly as_of: string | null;
      /**
       * Format: date-time
       * @description 30 days before `as_of`: groups that have not been read since are left out. Null if the register is empty.
       */
      readonly since: string | null;
      /** @description The groups that gained the most members, most first; those with equal gains by id. */
      readonly gains: readonly {
        /**
         * Format: int64
         * @description Rank by the change. Groups with equal changes share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the group.
         */
        readonly id: number;
        /** @description Name of the group, exactly as read. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Change of the member count over 30 days: the latest reading minus the one at least 30 days before it. Unit: members.
         */
        readonly delta: number;
        /**
         * Format: int64
         * @description Member count at the reading that the latest is compared with, at least 30 days before it. Unit: members.
         */
        readonly from: number;
        /**
         * Format: int64
         * @description Member count at the latest reading, which is compared with one at least 30 days before it. Unit: members.
         */
        readonly to: number;
        /**
         * Format: date-time
         * @description Time of the reading that the latest is compared with, at least 30 days before it.
         */
        readonly from_at: string;
        /**
         * Format: date-time
         * @description Time of the latest reading, which is compared with one at least 30 days before it.
         */
        readonly to_at: string;
      }[];
      /** @description The groups that lost the most members, most first; those with equal losses by id. */
      readonly losses: readonly {
        /**
         * Format: int64
         * @description Rank by the change. Groups with equal changes share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the group.
         */
        readonly id: number;
        /** @description Name of the group, exactly as read. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Change of the member count over 30 days: the latest reading minus the one at least 30 days before it. Unit: members.
         */
        readonly delta: number;
        /**
         * Format: int64
         * @description Member count at the reading that the latest is compared with, at least 30 days before it. Unit: members.
         */
        readonly from: number;
        /**
         * Format: int64
         * @description Member count at the latest reading, which is compared with one at least 30 days before it. Unit: members.
         */
        readonly to: number;
        /**
         * Format: date-time
         * @description Time of the reading that the latest is compared with, at least 30 days before it.
         */
        readonly from_at: string;
        /**
         * Format: date-time
         * @description Time of the latest reading, which is compared with one at least 30 days before it.
         */
        readonly to_at: string;
      }[];
    };
    /** @description The 200 largest gains and losses of members over 7 days, each between two readings, as in `change.d7` of a group. Deleted groups are left out. */
    readonly MoversD7: {
      /** @description The window: 7 days. Words: `d7`. Others may be added. */
      readonly window: 'd7' | (string & {});
      /**
       * Format: date-time
       * @description Time of the newest measurement in the register; null if it is empty.
       */
      readonly as_of: string | null;
      /**
       * Format: date-time
       * @description 7 days before `as_of`: groups that have not been read since are left out. Null if the register is empty.
       */
      readonly since: string | null;
      /** @description The groups that gained the most members, most first; those with equal gains by id. */
      readonly gains: readonly {
        /**
         * Format: int64
         * @description Rank by the change. Groups with equal changes share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the group.
         */
        readonly id: number;
        /** @description Name of the group, exactly as read. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Change of the member count over 7 days: the latest reading minus the one at least 7 days before it. Unit: members.
         */
        readonly delta: number;
        /**
         * Format: int64
         * @description Member count at the reading that the latest is compared with, at least 7 days before it. Unit: members.
         */
        readonly from: number;
        /**
         * Format: int64
         * @description Member count at the latest reading, which is compared with one at least 7 days before it. Unit: members.
         */
        readonly to: number;
        /**
         * Format: date-time
         * @description Time of the reading that the latest is compared with, at least 7 days before it.
         */
        readonly from_at: string;
        /**
         * Format: date-time
         * @description Time of the latest reading, which is compared with one at least 7 days before it.
         */
        readonly to_at: string;
      }[];
      /** @description The groups that lost the most members, most first; those with equal losses by id. */
      readonly losses: readonly {
        /**
         * Format: int64
         * @description Rank by the change. Groups with equal changes share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the group.
         */
        readonly id: number;
        /** @description Name of the group, exactly as read. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Change of the member count over 7 days: the latest reading minus the one at least 7 days before it. Unit: members.
         */
        readonly delta: number;
        /**
         * Format: int64
         * @description Member count at the reading that the latest is compared with, at least 7 days before it. Unit: members.
         */
        readonly from: number;
        /**
         * Format: int64
         * @description Member count at the latest reading, which is compared with one at least 7 days before it. Unit: members.
         */
        readonly to: number;
        /**
         * Format: date-time
         * @description Time of the reading that the latest is compared with, at least 7 days before it.
         */
        readonly from_at: string;
        /**
         * Format: date-time
         * @description Time of the latest reading, which is compared with one at least 7 days before it.
         */
        readonly to_at: string;
      }[];
    };
    /** @description The 200 largest gains and losses of members over 24 hours, each between two readings, as in `change.h24` of a group. Deleted groups are left out. */
    readonly MoversH24: {
      /** @description The window: 24 hours. Words: `h24`. Others may be added. */
      readonly window: 'h24' | (string & {});
      /**
       * Format: date-time
       * @description Time of the newest measurement in the register; null if it is empty.
       */
      readonly as_of: string | null;
      /**
       * Format: date-time
       * @description 24 hours before `as_of`: groups that have not been read since are left out. Null if the register is empty.
       */
      readonly since: string | null;
      /** @description The groups that gained the most members, most first; those with equal gains by id. */
      readonly gains: readonly {
        /**
         * Format: int64
         * @description Rank by the change. Groups with equal changes share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the group.
         */
        readonly id: number;
        /** @description Name of the group, exactly as read. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Change of the member count over 24 hours: the latest reading minus the one at least 24 hours before it. Unit: members.
         */
        readonly delta: number;
        /**
         * Format: int64
         * @description Member count at the reading that the latest is compared with, at least 24 hours before it. Unit: members.
         */
        readonly from: number;
        /**
         * Format: int64
         * @description Member count at the latest reading, which is compared with one at least 24 hours before it. Unit: members.
         */
        readonly to: number;
        /**
         * Format: date-time
         * @description Time of the reading that the latest is compared with, at least 24 hours before it.
         */
        readonly from_at: string;
        /**
         * Format: date-time
         * @description Time of the latest reading, which is compared with one at least 24 hours before it.
         */
        readonly to_at: string;
      }[];
      /** @description The groups that lost the most members, most first; those with equal losses by id. */
      readonly losses: readonly {
        /**
         * Format: int64
         * @description Rank by the change. Groups with equal changes share a rank.
         */
        readonly rank: number;
        /**
         * Format: int64
         * @description Stable numeric id of the group.
         */
        readonly id: number;
        /** @description Name of the group, exactly as read. */
        readonly name: string | null;
        /**
         * Format: int64
         * @description Change of the member count over 24 hours: the latest reading minus the one at least 24 hours before it. Unit: members.
         */
        readonly delta: number;
        /**
         * Format: int64
         * @description Member count at the reading that the latest is compared with, at least 24 hours before it. Unit: members.
         */
        readonly from: number;
        /**
         * Format: int64
         * @description Member count at the latest reading, which is compared with one at least 24 hours before it. Unit: members.
         */
        readonly to: number;
        /**
         * Format: date-time
         * @description Time of the reading that the latest is compared with, at least 24 hours before it.
         */
        readonly from_at: string;
        /**
         * Format: date-time
         * @description Time of the latest reading, which is compared with one at least 24 hours before it.
         */
        readonly to_at: string;
      }[];
    };
    /** @description The user who owns the group. */
    readonly Owner: {
      /**
       * Format: int64
       * @description Id of the owner. Null: not measured.
       */
      readonly id: number | null;
      /** @description Username of the owner when it was read. Null: not measured. */
      readonly name: string | null;
    };
    /** @description What some groups own. */
    readonly OwnersGroup: {
      /** @description The prefix, in lower-case hexadecimal digits. */
      readonly prefix: string;
      /** @description All owners whose hash has the prefix, in order of id. */
      readonly owners: readonly {
        /**
         * Format: int64
         * @description Id of the group.
         */
        readonly id: number;
        /** @description Games that the group created, in order of id. Null: not measured. */
        readonly games:
          | readonly {
              /**
               * Format: int64
               * @description Id of the game.
               */
              readonly id: number;
              /** @description Name of the game, exactly as read; null if not measured. */
              readonly name: string | null;
            }[]
          | null;
      }[];
    };
    /** @description What some users own. */
    readonly OwnersUser: {
      /** @description The prefix, in lower-case hexadecimal digits. */
      readonly prefix: string;
      /** @description All owners whose hash has the prefix, in order of id. */
      readonly owners: readonly {
        /**
         * Format: int64
         * @description Id of the user.
         */
        readonly id: number;
        /** @description Groups that the user owns, in order of id. Null: not measured. */
        readonly groups:
          | readonly {
              /**
               * Format: int64
               * @description Id of the group.
               */
              readonly id: number;
              /** @description Name of the group, exactly as read; null if not measured. */
              readonly name: string | null;
            }[]
          | null;
        /** @description Games that the user created, in order of id. Null: not measured. */
        readonly games:
          | readonly {
              /**
               * Format: int64
               * @description Id of the game.
               */
              readonly id: number;
              /** @description Name of the game, exactly as read; null if not measured. */
              readonly name: string | null;
            }[]
          | null;
      }[];
    };
    /** @description An error, as problem details (RFC 9457). */
    readonly Problem: {
      /**
       * Format: uri-reference
       * @description URL of the explanation of the error; a path before the first snapshot.
       */
      readonly type: string;
      /** @description Title of the error, always the same for one code. */
      readonly title: string;
      /**
       * Format: int64
       * @description The HTTP status.
       */
      readonly status: number;
      /** @description What was requested and what was expected. */
      readonly detail: string;
      /**
       * Format: uri-reference
       * @description The requested path as received, cut if it is long.
       */
      readonly instance: string;
      /** @description The stable code of the error: tell errors apart by it. Words: `invalid_id`, `invalid_limit`, `invalid_prefix`, `invalid_path`, `invalid_request`, `not_found`, `method_not_allowed`, `precondition_failed`, `uri_too_long`, `range_not_satisfiable`, `rate_limited`, `internal`, `no_snapshot`, `version_not_supported`. Others may be added. */
      readonly error:
        | 'invalid_id'
        | 'invalid_limit'
        | 'invalid_prefix'
        | 'invalid_path'
        | 'invalid_request'
        | 'not_found'
        | 'method_not_allowed'
        | 'precondition_failed'
        | 'uri_too_long'
        | 'range_not_satisfiable'
        | 'rate_limited'
        | 'internal'
        | 'no_snapshot'
        | 'version_not_supported'
        | (string & {});
    };
    /** @description The 200 newest changes of each sort, from the same rules as the feeds. */
    readonly Recent: {
      /**
       * Format: date-time
       * @description Time of the newest measurement in the register; null if it is empty.
       */
      readonly as_of: string | null;
      /** @description Groups with a new name. Newest first: in the order in which they were measured. Null: not measured. */
      readonly group_names:
        | readonly {
            /** @description Kind of the record. Words: `group`, `user`, `game`, `item`. Others may be added. */
            readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
            /**
             * Format: int64
             * @description Id of the record.
             */
            readonly id: number;
            /** @description The field that changed. Words: `name`. Others may be added. */
            readonly field: 'name' | (string & {});
            /** @description The value before. */
            readonly from: string;
            /** @description The value after. */
            readonly to: string;
            /**
             * Format: date-time
             * @description When it changed, according to the platform; null if that is unknown.
             */
            readonly changed_at: string | null;
            /**
             * Format: date-time
             * @description The first reading of the value after.
             */
            readonly measured_at: string;
            /**
             * Format: date-time
             * @description The last reading of the value before; null if both values were learned at the same time.
             */
            readonly previous_measured_at: string | null;
            /**
             * Format: uri-reference
             * @description Path of the record.
             */
            readonly path: string;
          }[]
        | null;
      /** @description Groups with a new owner. Newest first: in the order in which they were measured. Null: not measured. */
      readonly group_owners:
        | readonly {
            /** @description Kind of the record. Words: `group`, `user`, `game`, `item`. Others may be added. */
            readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
            /**
             * Format: int64
             * @description Id of the record.
             */
            readonly id: number;
            /** @description The field that changed. Words: `owner`. Others may be added. */
            readonly field: 'owner' | (string & {});
            /** @description The value before. */
            readonly from: {
              /** @description Whether the group has an owner. Words: `owned` (it has an owner), `none` (it has no owner). Others may be added. */
              readonly owner_state: 'owned' | 'none' | (string & {});
              /** @description The user who owns the group. Null: no owner, or the owner was not measured or is withheld. */
              readonly owner: components['schemas']['Owner'] | null;
            };
            /** @description The value after. */
            readonly to: {
              /** @description Whether the group has an owner. Words: `owned` (it has an owner), `none` (it has no owner). Others may be added. */
              readonly owner_state: 'owned' | 'none' | (string & {});
              /** @description The user who owns the group. Null: no owner, or the owner was not measured or is withheld. */
              readonly owner: components['schemas']['Owner'] | null;
            };
            /**
             * Format: date-time
             * @description When it changed, according to the platform; null if that is unknown.
             */
            readonly changed_at: string | null;
            /**
             * Format: date-time
             * @description The first reading of the value after.
             */
            readonly measured_at: string;
            /**
             * Format: date-time
             * @description The last reading of the value before; null if both values were learned at the same time.
             */
            readonly previous_measured_at: string | null;
            /**
             * Format: uri-reference
             * @description Path of the record.
             */
            readonly path: string;
          }[]
        | null;
      /** @description Users with a new username. Newest first: in the order in which they were measured. Null: not measured. */
      readonly usernames:
        | readonly {
            /** @description Kind of the record. Words: `group`, `user`, `game`, `item`. Others may be added. */
            readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
            /**
             * Format: int64
             * @description Id of the record.
             */
            readonly id: number;
            /** @description The field that changed. Words: `username`. Others may be added. */
            readonly field: 'username' | (string & {});
            /** @description The value before. */
            readonly from: string;
            /** @description The value after. */
            readonly to: string;
            /**
             * Format: date-time
             * @description When it changed, according to the platform; null if that is unknown.
             */
            readonly changed_at: string | null;
            /**
             * Format: date-time
             * @description The first reading of the value after.
             */
            readonly measured_at: string;
            /**
             * Format: date-time
             * @description The last reading of the value before; null if both values were learned at the same time.
             */
            readonly previous_measured_at: string | null;
            /**
             * Format: uri-reference
             * @description Path of the record.
             */
            readonly path: string;
          }[]
        | null;
      /** @description Games measured for the first time. Newest first: in the order in which they were measured. Null: not measured. */
      readonly games:
        | readonly {
            /** @description Kind of the record. Words: `group`, `user`, `game`, `item`. Others may be added. */
            readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
            /**
             * Format: int64
             * @description Id of the record.
             */
            readonly id: number;
            /** @description Name of the record; null if it was not measured. */
            readonly name: string | null;
            /** @description The field that was set. Words: `first_measured_at`. Others may be added. */
            readonly field: 'first_measured_at' | (string & {});
            /**
             * Format: date-time
             * @description Always null.
             */
            readonly from: string | null;
            /**
             * Format: date-time
             * @description The first reading of the record.
             */
            readonly to: string;
            /**
             * Format: date-time
             * @description The same time.
             */
            readonly measured_at: string;
            /**
             * Format: date-time
             * @description Always null.
             */
            readonly previous_measured_at: string | null;
            /**
             * Format: uri-reference
             * @description Path of the record.
             */
            readonly path: string;
          }[]
        | null;
      /** @description Items measured for the first time. Newest first: in the order in which they were measured. Null: not measured. */
      readonly items:
        | readonly {
            /** @description Kind of the record. Words: `group`, `user`, `game`, `item`. Others may be added. */
            readonly kind: 'group' | 'user' | 'game' | 'item' | (string & {});
            /**
             * Format: int64
             * @description Id of the record.
             */
            readonly id: number;
            /** @description Name of the record; null if it was not measured. */
            readonly name: string | null;
            /** @description The field that was set. Words: `first_measured_at`. Others may be added. */
            readonly field: 'first_measured_at' | (string & {});
            /**
             * Format: date-time
             * @description Always null.
             */
            readonly from: string | null;
            /**
             * Format: date-time
             * @description The first reading of the record.
             */
            readonly to: string;
            /**
             * Format: date-time
             * @description The same time.
             */
            readonly measured_at: string;
            /**
             * Format: date-time
             * @description Always null.
             */
            readonly previous_measured_at: string | null;
            /**
             * Format: uri-reference
             * @description Path of the record.
             */
            readonly path: string;
          }[]
        | null;
    };
    /** @description The published snapshot: its number, time, contents and size. */
    readonly Snapshot: {
      /**
       * Format: int64
       * @description Version of this format.
       */
      readonly format: number;
      /**
       * Format: int64
       * @description Number of the snapshot. It grows by one with every snapshot that changes something.
       */
      readonly sequence: number;
      /**
       * Format: date-time
       * @description Time of the newest measurement in the register; null if it is empty.
       */
      readonly as_of: string | null;
      /**
       * Format: date-time
       * @description When the snapshot was last built.
       */
      readonly built_at: string;
      /** @description The program that built the snapshot. */
      readonly generator: {
        /** @description Name of the program. */
        readonly name: string;
        /** @description Version of the program. */
        readonly version: string;
      };
      /** @description The service and its terms. */
      readonly service: {
        /** @description Name of the register. */
        readonly name: string;
        /**
         * Format: uri
         * @description The URL that credits should link to.
         */
        readonly url: string;
        /**
         * Format: uri
         * @description Base URL of the service.
         */
        readonly base_url: string;
        /**
         * Format: uri-reference
         * @description Path of the documentation page for developers.
         */
        readonly docs: string;
        /**
         * Format: uri-reference
         * @description The OpenAPI description.
         */
        readonly description: string;
        /** @description Licence of the data. */
        readonly licence: {
          /** @description Name of the licence. */
          readonly name: string;
          /**
           * Format: uri
           * @description URL of the licence text.
           */
          readonly url: string;
        };
        /** @description The domain in the ids of feed entries (tag URIs). */
        readonly tag_authority: string;
      };
      /** @description Rate limits for each client. */
      readonly limits: {
        /** @description All requests. */
        readonly api: {
          /**
           * Format: int64
           * @description Requests allowed at once. Unit: requests.
           */
          readonly tokens: number;
          /** @description Time until one more is allowed. Unit: seconds. */
          readonly refill_seconds: number;
        };
        /** @description Bulk downloads, which count as requests as well. */
        readonly download: {
          /**
           * Format: int64
           * @description Requests allowed at once. Unit: requests.
           */
          readonly tokens: number;
          /** @description Time until one more is allowed. Unit: seconds. */
          readonly refill_seconds: number;
          /**
           * Format: int64
           * @description A download of at least so many bytes counts as one, a smaller one as its share, at least a hundredth. Unit: bytes.
           */
          readonly token_bytes: number;
        };
        /** @description Pages and their assets. */
        readonly page: {
          /**
           * Format: int64
           * @description Requests allowed at once. Unit: requests.
           */
          readonly tokens: number;
          /** @description Time until one more is allowed. Unit: seconds. */
          readonly refill_seconds: number;
        };
      };
      /** @description Names and values of headers, by type of response. */
      readonly headers: {
        /** @description On every response. */
        readonly all: {
          [key: string]: string;
        };
        /** @description On 204, the response to OPTIONS. A 405 has the same Allow. */
        readonly options: {
          [key: string]: string;
        };
        /** @description On 404 and 308. */
        readonly not_found: {
          [key: string]: string;
        };
        /** @description On every other error. */
        readonly error: {
          [key: string]: string;
        };
        /** @description On 200, 206 and 304, by the class of the route. */
        readonly content: {
          [key: string]: {
            [key: string]: string;
          };
        };
      };
      /** @description Errors by code. */
      readonly errors: {
        [key: string]: {
          /**
           * Format: int64
           * @description The HTTP status.
           */
          readonly status: number;
          /** @description Title of the error. */
          readonly title: string;
          /** @description The detail where a server knows no more about the request. */
          readonly detail: string;
          /**
           * Format: uri-reference
           * @description Path of the page that browsers get instead of the problem document: on routes of HTML pages, and on paths of no route without an extension, except at and below problems_below.
           */
          readonly page?: string;
        };
      };
      /** @description At and below these paths, errors are always problem documents. */
      readonly problems_below: readonly string[];
      /** @description Number of published records of each kind. */
      readonly counts: {
        /**
         * Format: int64
         * @description Number of published groups. Unit: groups. Null: not measured.
         */
        readonly groups: number | null;
        /**
         * Format: int64
         * @description Number of published users. Unit: users. Null: not measured.
         */
        readonly users: number | null;
        /**
         * Format: int64
         * @description Number of published games. Unit: games. Null: not measured.
         */
        readonly games: number | null;
        /**
         * Format: int64
         * @description Number of published items. Unit: items. Null: not measured.
         */
        readonly items: number | null;
      };
      /** @description SHA-256 of one line "ROUTE COUNT ROOT" for each route: its name, its number of documents, and their tree head. */
      readonly digest: string;
      /** @description Size of the published tree. */
      readonly tree: {
        /** @description Identifies the tree. One that starts over counts from 1 and has another. */
        readonly id: string;
        /**
         * Format: int64
         * @description Files, excluding compressed copies, snapshot.json and change lists. Unit: files.
         */
        readonly files: number;
        /**
         * Format: int64
         * @description Their total size. Unit: bytes.
         */
        readonly bytes: number;
      };
      /** @description The state of the bulk downloads, which may be older than the rest. */
      readonly downloads: {
        /**
         * Format: date-time
         * @description Time of the newest measurement in them; null if there is none.
         */
        readonly as_of: string | null;
        /**
         * Format: int64
         * @description The snapshot that the downloads belong to. The change lists after it bring them up to date.
         */
        readonly sequence: number;
        /** @description Digest of that snapshot. */
        readonly digest: string;
      };
      /**
       * Format: int64
       * @description Documents of at least this size are also stored compressed, except downloads, change lists and the feed of snapshots. Unit: bytes.
       */
      readonly compressed_from: number;
      /** @description Every URL of the service. */
      readonly routes: readonly {
        /** @description Name of the route. */
        readonly name: string;
        /** @description Path, with its parameters in braces. */
        readonly path: string;
        /** @description File that is served, relative to the root of the tree. */
        readonly file: string;
        /** @description How long the response may be cached. Words: `record`, `summary`, `download`, `feed`, `page`, `asset`. Others may be added. */
        readonly class: 'record' | 'summary' | 'download' | 'feed' | 'page' | 'asset' | (string & {});
        /** @description The limit it counts against. A download counts against api, too. Words: `api`, `download`, `page`. Others may be added. */
        readonly bucket: 'api' | 'download' | 'page' | (string & {});
        /** @description Media type of the response. */
        readonly type: string;
        /** @description File name to save it under, if it is a download. */
        readonly attachment?: string;
        /** @description On its 200 and 206, besides those of the class. */
        readonly headers: {
          [key: string]: string;
        };
        /** @description What it returns. */
        readonly description: string;
        /** @description Its parameters, if it has any. */
        readonly parameters?: readonly {
          /** @description Name, as used in the URL. */
          readonly name: string;
          /** @description Whether it is part of the path or of the query. Words: `path`, `query`. Others may be added. */
          readonly in: 'path' | 'query' | (string & {});
          /** @description An id, an integer within bounds, a month (2026-11, or a numbered part of one), lower-case hexadecimal digits, or the name of an asset. Words: `id`, `integer`, `month`, `prefix`, `asset`. Others may be added. */
          readonly type: 'id' | 'integer' | 'month' | 'prefix' | 'asset' | (string & {});
          /**
           * Format: int64
           * @description Lowest value allowed; absent for a path parameter.
           */
          readonly minimum?: number;
          /**
           * Format: int64
           * @description Highest value allowed; absent for a path parameter.
           */
          readonly maximum?: number;
          /**
           * Format: int64
           * @description Value used if it is left out; absent for a path parameter.
           */
          readonly default?: number;
          /** @description What it means. */
          readonly description: string;
        }[];
        /**
         * Format: uri-reference
         * @description An example of a URL.
         */
        readonly example?: string;
        /** @description Detail of the 404 for a valid URL that has no file, with parameters in braces. */
        readonly absent?: string;
        /** @description Name of a route: unless its document with the same parameters is published, the response is a 404. */
        readonly requires?: string;
      }[];
      /** @description Paths that respond with 308, at no cost. */
      readonly redirects: readonly {
        /**
         * Format: uri-reference
         * @description The path.
         */
        readonly path: string;
        /**
         * Format: uri-reference
         * @description The path to which it leads.
         */
        readonly to: string;
      }[];
    };
    /** @description Register-wide measured totals. */
    readonly Stats: {
      /**
       * Format: date-time
       * @description Time of the newest measurement in the register; null if it is empty.
       */
      readonly as_of: string | null;
      /** @description All groups in the register. Null: not measured. */
      readonly groups: {
        /**
         * Format: int64
         * @description Number of published groups. Unit: groups.
         */
        readonly records: number;
        /**
         * Format: int64
         * @description Total number of times they have been measured. Unit: measurements.
         */
        readonly measurements: number;
        /**
         * Format: date-time
         * @description Time of the first measurement of any of them; null if there are none.
         */
        readonly first_measured_at: string | null;
        /**
         * Format: date-time
         * @description Time of the newest measurement of any of them; null if there are none.
         */
        readonly measured_at: string | null;
        /** @description Sum of member_count over all groups. */
        readonly member_count: {
          /**
           * Format: int64
           * @description Sum of the measured values; null if there are none. Unit: members.
           */
          readonly total: number | null;
          /**
           * Format: int64
           * @description Number of groups with a measured value. Unit: groups.
           */
          readonly measured: number;
        };
      } | null;
      /** @description All users in the register. Null: not measured. */
      readonly users: {
        /**
         * Format: int64
         * @description Number of published users. Unit: users.
         */
        readonly records: number;
        /**
         * Format: int64
         * @description Total number of times they have been measured. Unit: measurements.
         */
        readonly measurements: number;
        /**
         * Format: date-time
         * @description Time of the first measurement of any of them; null if there are none.
         */
        readonly first_measured_at: string | null;
        /**
         * Format: date-time
         * @description Time of the newest measurement of any of them; null if there are none.
         */
        readonly measured_at: string | null;
      } | null;
      /** @description All games in the register. Null: not measured. */
      readonly games: {
        /**
         * Format: int64
         * @description Number of published games. Unit: games.
         */
        readonly records: number;
        /**
         * Format: int64
         * @description Total number of times they have been measured. Unit: measurements.
         */
        readonly measurements: number;
        /**
         * Format: date-time
         * @description Time of the first measurement of any of them; null if there are none.
         */
        readonly first_measured_at: string | null;
        /**
         * Format: date-time
         * @description Time of the newest measurement of any of them; null if there are none.
         */
        readonly measured_at: string | null;
        /** @description Sum of visits over all games. */
        readonly visits: {
          /**
           * Format: int64
           * @description Sum of the measured values; null if there are none. Unit: visits.
           */
          readonly total: number | null;
          /**
           * Format: int64
           * @description Number of games with a measured value. Unit: games.
           */
          readonly measured: number;
        };
        /** @description Sum of playing over all games. */
        readonly playing: {
          /**
           * Format: int64
           * @description Sum of the measured values; null if there are none. Unit: players.
           */
          readonly total: number | null;
          /**
           * Format: int64
           * @description Number of games with a measured value. Unit: games.
           */
          readonly measured: number;
        };
      } | null;
      /** @description All items in the register. Null: not measured. */
      readonly items: {
        /**
         * Format: int64
         * @description Number of published items. Unit: items.
         */
        readonly records: number;
        /**
         * Format: int64
         * @description Total number of times they have been measured. Unit: measurements.
         */
        readonly measurements: number;
        /**
         * Format: date-time
         * @description Time of the first measurement of any of them; null if there are none.
         */
        readonly first_measured_at: string | null;
        /**
         * Format: date-time
         * @description Time of the newest measurement of any of them; null if there are none.
         */
        readonly measured_at: string | null;
      } | null;
      /** @description Totals of all histories. */
      readonly histories: {
        /**
         * Format: int64
         * @description Readings of the member counts of groups. Unit: readings. Null: not measured.
         */
        readonly member_readings: number | null;
        /**
         * Format: int64
         * @description Changes of group name. Unit: changes. Null: not measured.
         */
        readonly name_changes: number | null;
        /**
         * Format: int64
         * @description Changes of group owner. Unit: changes. Null: not measured.
         */
        readonly owner_changes: number | null;
        /**
         * Format: int64
         * @description Changes of username. Unit: changes. Null: not measured.
         */
        readonly username_changes: number | null;
      };
    };
    /** @description The measured record of one user. */
    readonly User: {
      /**
       * Format: int64
       * @description Stable numeric id of the user.
       */
      readonly id: number;
      /** @description Username of the user, exactly as read. Null: not measured. */
      readonly username: string | null;
      /** @description Display name of the user, exactly as read. Null: not measured. */
      readonly display_name: string | null;
      /** @description State of the user on the platform. Words: `present` (the platform shows the account), `banned` (the platform has banned the account), `deleted` (the platform no longer has the account). Others may be added. Null: not measured. */
      readonly state: 'present' | 'banned' | 'deleted' | (string & {}) | null;
      /** @description Whether the platform marks the user as verified. Null: not measured. */
      readonly verified: boolean | null;
      /**
       * Format: date-time
       * @description When the user joined, according to the platform. Null: not measured.
       */
      readonly created_at: string | null;
      /**
       * Format: int64
       * @description Number of usernames observed, including the present one: the entries of the username history. Unit: usernames. Null: the register has no username history, even if it has a username.
       */
      readonly username_count: number | null;
      /**
       * Format: date-time
       * @description When the register first measured the record.
       */
      readonly first_measured_at: string;
      /**
       * Format: date-time
       * @description When the register last measured the record.
       */
      readonly measured_at: string;
      /**
       * Format: int64
       * @description Number of times the record has been measured. Unit: measurements.
       */
      readonly measurements: number;
      /** @description Paths of this record and its usernames. */
      readonly links: {
        /**
         * Format: uri-reference
         * @description Path of the user.
         */
        readonly self: string;
        /**
         * Format: uri-reference
         * @description Path of the usernames of the user.
         */
        readonly usernames: string;
      };
    };
    /** @description The history of one user. */
    readonly UserUsernames: {
      /**
       * Format: int64
       * @description Stable numeric id of the user.
       */
      readonly id: number;
      /** @description Username of the user, exactly as read. Null: not measured. */
      readonly username: string | null;
      /** @description Usernames that a user has been observed with, oldest first. Null: not measured. */
      readonly usernames:
        | readonly {
            /**
             * Format: int64
             * @description Position in the history; 1 is the oldest entry.
             */
            readonly position: number;
            /** @description Username of the user, exactly as read. */
            readonly username: string;
            /** @description Whether this is the newest entry. */
            readonly is_current: boolean;
            /**
             * Format: date-time
             * @description When this entry was first read.
             */
            readonly first_measured_at: string;
            /**
             * Format: date-time
             * @description When this entry was last read.
             */
            readonly last_measured_at: string;
            /**
             * Format: date-time
             * @description When the change happened, according to the platform. Null: the platform gives no date.
             */
            readonly changed_at: string | null;
            /**
             * Format: date-time
             * @description When the previous entry was last read; the change happened later. Null: no readings bound the change.
             */
            readonly changed_after: string | null;
            /**
             * Format: date-time
             * @description When this entry was first read; the change happened earlier. Null: no readings bound the change.
             */
            readonly changed_before: string | null;
          }[]
        | null;
      /** @description Paths of this history and its record. */
      readonly links: {
        /**
         * Format: uri-reference
         * @description Path of the usernames of the user.
         */
        readonly self: string;
        /**
         * Format: uri-reference
         * @description Path of the user.
         */
        readonly user: string;
      };
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}

export type $defs = Record<string, never>;

export type external = Record<string, never>;

export type operations = Record<string, never>;
