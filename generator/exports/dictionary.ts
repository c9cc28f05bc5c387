/** The distinct values of a column, where they are few. */

/** From so many distinct values on it is looked at whether they are worth it. */
const LOOKED_AT = 1000;

/** Distinct values, and for each value put its place among them. */
export interface Places<T> {
  readonly values: readonly T[];
  readonly places: Uint32Array;
}

export class Dictionary<T extends string | number> {
  readonly #pays: number;
  #known = new Map<T, number>();
  #places = new Uint32Array(1024);
  #count = 0;
  #isGivenUp = false;

  /** @param pays how often a value must stand on average for a dictionary to pay */
  constructor(pays: number) {
    this.#pays = pays;
  }

  /** @returns false where it is no longer worth it: neither this value nor one after it is kept */
  put(value: T): boolean {
    if (this.#isGivenUp) return false;
    let place = this.#known.get(value);
    if (place === undefined) {
      place = this.#known.size;
      if (place >= LOOKED_AT && place * this.#pays > this.#count) {
        this.#isGivenUp = true;
        return false;
      }
      this.#known.set(value, place);
    }
    if (this.#count === this.#places.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#places);
      this.#places = larger;
    }
    this.#places[this.#count] = place;
    this.#count += 1;
    return true;
  }

  get pays(): boolean {
    return !this.#isGivenUp && this.#known.size * this.#pays <= this.#count;
  }

  /** Keeps nothing from here on, until the next is begun. @returns what was kept so far */
  giveUp(): Places<T> {
    const kept = this.#empty();
    this.#isGivenUp = true;
    return kept;
  }

  /** All that is kept. Begins the next. */
  take(): Places<T> {
    this.#isGivenUp = false;
    return this.#empty();
  }

  #empty(): Places<T> {
    const kept = { values: [...this.#known.keys()], places: this.#places.slice(0, this.#count) };
    if (this.#count > 0) this.#known = new Map();
    this.#count = 0;
    return kept;
  }
}
