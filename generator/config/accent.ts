/** Accent colours, which must stand out from the page. */
import * as z from 'zod';

/** The background of all pages: `--paper` in style.css. */
export const PAPER = { light: '#fbfaf7', dark: '#12161a' } as const;

/** WCAG 2.2, success criterion 1.4.3: links and buttons have the accent. */
const LEAST_CONTRAST = 4.5;

export const channels = (colour: string): readonly number[] =>
  [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));

/** WCAG 2.2, relative luminance of #rrggbb. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour)
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG 2.2, contrast ratio of two colours: 1 to 21. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other].map(luminance).toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const COLOUR = 'expected a colour such as "#00616b"';

/** A colour that can be read on the pages of a theme. */
export const accentColour = (theme: keyof typeof PAPER) =>
  z
    .string(COLOUR)
    .regex(/^#[\da-f]{6}$/i, { error: COLOUR, abort: true })
    .refine((colour) => contrast(colour, PAPER[theme]) >= LEAST_CONTRAST, {
      error: ({ input }) => {
        // Rounded down, so that no refused figure looks sufficient.
        const found = Math.floor(contrast(String(input), PAPER[theme]) * 100) / 100;
        return `expected a contrast of at least ${LEAST_CONTRAST}:1 to the ${theme} page (${PAPER[theme]}), which is ${found.toFixed(2)}:1`;
      },
    });
