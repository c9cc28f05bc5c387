/**
 * What other databases call the tables and columns of the contract, the likeliest first: singular, in
 * lower case, words joined by "_", without a prefix that repeats the table's own name.
 */

/** By the contract's table. People whom nobody expects to be published, such as customers, are no users. */
const TABLE_SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  groups: list('group guild community server club clan team subreddit channel room'),
  users: list('user account member player profile'),
  games: list('game experience universe world app'),
  items: list('item asset product track film movie book article ware'),
};

/** Words in the name of a table of readings, of which a single number of any name is then the reading. */
const SERIES_SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  group_member_readings: list('member headcount population subscriber follower'),
};

const TITLE = list('title');
const POLLED = list('last_seen last_poll last_polled polled last_read last_fetched fetched last_checked');
const FIRST = list('first_seen first_poll first_read discovered');
const READ_AT = list('ts at timestamp time date day read polled fetched seen recorded record_date taken');
const CREATED = list('created create_date founded joined registered creation_date released release_date');

/**
 * By the contract's column, or by `table.column` where it is called otherwise in that table. The column's
 * own name comes before these; `seen` stands for `seen_at` as well.
 */
const COLUMN_SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  name: TITLE,
  state: list('status'),
  username: list('handle login user_name name nick'),
  display_name: list('nickname nick full_name global_name name'),
  description: list('about bio topic summary text motto'),
  owner_id: list('owner leader boss founder creator'),
  owner_name: list('owner leader boss founder creator'),
  creator_id: list('creator author maker developer'),
  creator_name: list('creator author maker developer'),
  creator_type: list('creator_kind maker_kind author_type'),
  member_count: list('members heads headcount size subscribers followers'),
  public_entry: list('is_open open is_public public'),
  verified: list('is_verified'),
  price: list('unit_price cost'),
  playing: list('online players concurrent ccu'),
  visits: list('plays'),
  favourites: list('favorites favourite_count favorite_count favourited_count'),
  up_votes: list('likes upvotes'),
  down_votes: list('dislikes downvotes'),
  max_players: list('capacity'),
  genre: list('category'),
  root_place_id: list('place'),
  asset_type: list('type kind'),
  asset_type_id: list('type'),
  off_sale: list('discontinued'),
  limited: list('is_limited'),
  quantity_remaining: list('remaining stock'),
  created_at: CREATED,
  updated_at: list('modified'),
  measured_at: POLLED,
  first_measured_at: FIRST,
  measurements: list('reads polls readings'),
  platform_id: list('external_id snowflake discord_id steam_id steamid slug uuid'),
  changed_at: list('changed renamed'),
  'group_member_readings.measured_at': READ_AT,
  'group_names.first_measured_at': [...FIRST, ...list('seen_from since valid_from from')],
  'group_names.last_measured_at': [...POLLED, ...list('seen_to until valid_to to')],
  'usernames.first_measured_at': [...FIRST, ...list('seen_from since valid_from from')],
  'usernames.last_measured_at': [...POLLED, ...list('seen_to until valid_to to')],
};

/** Columns of accounts of people who work with a database, by which they are told from those that a platform shows. */
const SECRET = new RegExp(
  `(^|_)(e_?mail|pass(word|wd|code|phrase)|pwd|salt|token)s?(_(hash|digest|address))?$` +
    `|^(pass|(pass_|pw_)?hash|(client_|api_)?secret|api_key)$`,
);

/** Whether a column has what nobody publishes: a password, a token, an address. A mere hash may be that of a picture. */
export const isSecret = (column: string): boolean => SECRET.test(wordsIn(column).join('_'));

function list(words: string): readonly string[] {
  return words.split(' ');
}

/** The rank of a name that doesn't fit. */
export const UNLIKE = Infinity;

/** `CustomerID`: `customer`, `id`. */
const wordsIn = (identifier: string): readonly string[] =>
  identifier
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '');

/** `discord_guilds`: `discord_guild`. */
const singular = (identifier: string): string =>
  wordsIn(identifier)
    .join('_')
    .replace(/ies$/, 'y')
    .replace(/(?<=[a-z]{2})s$/, '');

/** How well a table's name fits one of the contract, as a whole or by its last word: the lower, the better. */
export function rankOfTable(table: string, own: string): number {
  const synonyms = TABLE_SYNONYMS[table] ?? [];
  const called = singular(own);
  const whole = synonyms.indexOf(called);
  const last = synonyms.indexOf(called.replace(/^.*_/, ''));
  return whole >= 0 ? whole : last >= 0 ? synonyms.length + last : UNLIKE;
}

/** Whether a table of any single number is one of readings, by its name. */
export const isSeries = (table: string, own: string): boolean =>
  wordsIn(own).some((word) => SERIES_SYNONYMS[table]?.includes(singular(word)) === true);

/** Whether a column is called like a record of some table, or like its key: `guild`, `guild_id`. */
export const refersByName = (table: string, source: string, own: string): boolean =>
  [singular(source), ...(TABLE_SYNONYMS[table] ?? [])].includes(wordsIn(own).join('_').replace(/_id$/, ''));

/** Of a time: in milliseconds, microseconds or seconds. */
const UNIT = /_(?:ms|us|s)$/;

/**
 * How well a column's name fits one of the contract: the lower, the better. It may have its table's name
 * before it, and `at` and a unit after it.
 */
export function rankOfColumn(table: string, column: string, source: string, own: string): number {
  const called = wordsIn(own).join('_');
  const alone = called.replace(new RegExp(`^${singular(source)}_`), '');
  const rank = synonymsOf(table, column).findIndex((word) =>
    [
      called,
      alone,
      alone.replace(UNIT, ''),
      alone.replace(UNIT, '').replace(/_(?:at|on|ts|time|date)$/, ''),
    ].includes(word),
  );
  return rank >= 0 ? rank : UNLIKE;
}

/** Whether a column shares a word with one of the contract, or with what others call that. */
export function sharesWord(table: string, column: string, own: string): boolean {
  const words = new Set(synonymsOf(table, column).flatMap((each) => each.split('_')));
  return wordsIn(own).some((word) => word.length > 2 && words.has(word));
}

const synonymsOf = (table: string, column: string): readonly string[] => [
  column,
  ...(COLUMN_SYNONYMS[`${table}.${column}`] ?? COLUMN_SYNONYMS[column] ?? []),
];
