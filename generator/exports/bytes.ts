/** Bytes that are gathered one after the other, in a buffer that grows and is used again. */

/** Up to so many characters, writing them one by one is faster than calling what is native. */
const SHORT_CHARACTERS = 40;

export class Bytes {
  #buffer: Buffer<ArrayBuffer> = Buffer.alloc(16 * 1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** What was gathered, until more is. */
  gathered(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length] = value;
    this.#length += 1;
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  /** 32 bits, the lowest first. */
  uint32(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeUInt32LE(value, this.#length);
  }

  /** A natural number in groups of seven bits, the lowest first. */
  varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte((rest % 128) + 128);
    this.byte(rest);
  }

  /** An integer whose sign is its lowest bit. */
  zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  /** 32 bits, in place of four bytes that are there. */
  uint32At(at: number, value: number): void {
    this.#buffer.writeUInt32LE(value, at);
  }

  /** A text as UTF-8. */
  text(value: string): void {
    const { length } = value;
    // A unit takes 3 bytes at most.
    this.#reserve(3 * length);
    const buffer = this.#buffer;
    const start = this.#length;
    let ascii = 0;
    if (length <= SHORT_CHARACTERS) {
      for (; ascii < length; ascii += 1) {
        const code = value.charCodeAt(ascii);
        if (code > 127) break;
        buffer[start + ascii] = code;
      }
    }
    this.#length = start + (ascii === length ? length : buffer.write(value, start));
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.alloc(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
