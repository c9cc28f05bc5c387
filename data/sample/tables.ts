import type { Database, Statement } from '../../generator/sqlite/index.js';

/** Rows of each table, by column names of data/schema.sql. Times as text, booleans as 0 or 1. */
export interface Rows {
  readonly groups: GroupRow;
  readonly group_member_readings: MemberReading & { readonly group_id: number };
  readonly group_names: NameEntry & { readonly group_id: number };
  readonly group_owners: OwnerEntry & { readonly group_id: number };
  readonly users: UserRow;
  readonly usernames: Omit<NameEntry, 'name'> & { readonly user_id: number; readonly username: string };
  readonly games: GameRow;
  readonly items: ItemRow;
  readonly withheld: { readonly kind: string; readonly id: number; readonly since: string };
}

export interface GroupRow extends Measured, Owner {
  readonly id: number;
  readonly state: 'present' | 'locked' | 'deleted' | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly member_count: number | null;
  readonly public_entry: number | null;
  readonly verified: number | null;
  readonly created_at: string | null;
}

export interface UserRow extends Measured {
  readonly id: number;
  readonly state: 'present' | 'banned' | 'deleted' | null;
  readonly username: string | null;
  readonly display_name: string | null;
  readonly verified: number | null;
  readonly created_at: string | null;
}

export interface GameRow extends Measured, Creator {
  readonly id: number;
  readonly root_place_id: number | null;
  readonly state: 'present' | 'restricted' | 'deleted' | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly access: 'free' | 'paid' | null;
  readonly price: number | null;
  readonly playing: number | null;
  readonly visits: number | null;
  readonly favourites: number | null;
  readonly up_votes: number | null;
  readonly down_votes: number | null;
  readonly max_players: number | null;
  readonly genre: string | null;
  readonly created_at: string | null;
  readonly updated_at: string | null;
}

export interface ItemRow extends Measured, Creator, Price, Resale {
  readonly id: number;
  readonly state: 'present' | 'deleted' | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly asset_type_id: number | null;
  readonly asset_type: string | null;
  readonly favourites: number | null;
  readonly created_at: string | null;
  readonly updated_at: string | null;
}

export interface Measured {
  readonly first_measured_at: string;
  readonly measured_at: string;
  readonly measurements: number;
}

export interface Owner {
  readonly owner_state: 'owned' | 'none' | null;
  readonly owner_id: number | null;
  readonly owner_name: string | null;
}

export interface Creator {
  readonly creator_type: 'user' | 'group' | null;
  readonly creator_id: number | null;
  readonly creator_name: string | null;
}

export interface Price {
  readonly price_state: 'priced' | 'free' | 'unlisted' | null;
  readonly price: number | null;
  readonly off_sale: number | null;
}

export interface Resale {
  readonly limited: number | null;
  readonly lowest_resale_price: number | null;
  readonly recent_average_price: number | null;
  readonly quantity_total: number | null;
  readonly quantity_remaining: number | null;
}

export interface MemberReading {
  readonly measured_at: string;
  readonly member_count: number;
}

/** An entry of a history: its position, 1 = oldest, and the first and last reading with it. */
interface Entry {
  readonly position: number;
  readonly first_measured_at: string;
  readonly last_measured_at: string;
}

export interface NameEntry extends Entry {
  readonly name: string;
  readonly changed_at: string | null;
}

export interface OwnerEntry extends Owner, Entry {}

/** Writes rows of all tables and counts them. */
export class Tables {
  readonly #db: Database;
  readonly #inserts = new Map<keyof Rows, Statement<[object]>>();
  #rows = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Number of rows written so far. */
  get rows(): number {
    return this.#rows;
  }

  insert<T extends keyof Rows>(table: T, row: Rows[T]): void {
    let insert = this.#inserts.get(table);
    if (insert === undefined) {
      insert = this.#insertInto(table, row);
      this.#inserts.set(table, insert);
    }
    insert.run(row);
    this.#rows++;
  }

  /** The columns are those of the row, as its type has them; others of the schema are NULL. */
  #insertInto(table: keyof Rows, row: object): Statement<[object]> {
    const columns = Object.keys(row);
    return this.#db.prepare<object>(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((c) => `@${c}`).join(', ')})`,
    );
  }
}
