/**
 * The keys of documents that hold all entries whose hash has one prefix, as the text in URLs and as
 * integers. The integer is the prefix as a hexadecimal number after a digit 1, from which the number
 * of digits can be read: `0` is 16 (0x10), `ff` is 511 (0x1ff), `00a` is 4106 (0x100a).
 */

/** The longest prefix that clients may ask for: 64 bits. Published ones are much shorter. */
export const PREFIX_DIGITS = 16;

/** The text of a prefix, as part of a regular expression. */
export const PREFIX_PATTERN = `[0-9a-f]{1,${PREFIX_DIGITS}}`;

/** 511 -> `ff`. */
export const prefixText = (key: number): string => key.toString(16).slice(1);

/** The key of a text that matches the pattern; exact for 13 digits and fewer. */
export const prefixKey = (text: string): number => Number(`0x1${text}`);
