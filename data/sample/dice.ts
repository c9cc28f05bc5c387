/** At least one, so that there is always one to pick. */
export type Choices<T> = readonly [T, ...T[]];

/**
 * Deterministic randomness: whole numbers, and fractions with + - * / and Math.sqrt alone, as Math.log may
 * differ in the last bit between engines. Each record has its own dice, so that it depends on no other
 * one, and can be recomputed when another one refers to it.
 */
export class Dice {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /**
   * @param seed the register's seed, a safe integer
   * @param purpose what the dice are thrown for, such as `group name`
   * @param index the record's index within its kind, from 0
   */
  constructor(seed: number, purpose: string, index: number) {
    this.#a = hashOf(purpose);
    this.#b = mixed(seed, 0x9e3779b9);
    this.#c = mixed(index, this.#a ^ this.#b);
    for (let round = 0; round < 12; round++) this.#next();
  }

  /** The next 32 bits, by sfc32 of PractRand (Chris Doty-Humphrey, public domain). */
  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** An integer from 0 to limit - 1; limit is 1 to 2^53 - 1. */
  below(limit: number): number {
    if (limit <= 0x1_0000_0000) return this.#next() % limit;
    return ((this.#next() & 0x1f_ffff) * 0x1_0000_0000 + this.#next()) % limit;
  }

  /** A number from `from` up to, but not including, `to`, in steps of 2^-32 of the range. */
  between(from: number, to: number): number {
    return from + (to - from) * (this.#next() / 0x1_0000_0000);
  }

  /** True once in this many throws, on average. */
  once(inThrows: number): boolean {
    return this.below(inThrows) === 0;
  }

  /** One of the choices, all equally likely. */
  pick<T>(choices: Choices<T>): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }

  /** A count with a heavy tail, below base * 2^(doublings + 1): each doubling has a probability of 5/8. */
  tail(base: number, doublings: number): number {
    let size = base;
    for (let left = doublings; left > 0 && this.below(8) < 5; left--) size *= 2;
    return size === base ? this.below(2 * base) : size + this.below(size);
  }
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** Mixes all 53 bits of a safe integer into 32, with the finaliser of MurmurHash3. */
function mixed(value: number, salt: number): number {
  const high = Math.floor(value / 0x1_0000_0000);
  let hash = (value ^ Math.imul(high, 0x85ebca6b) ^ salt) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
