/** A style sheet that a script has as text: `bundle.ts` puts it in. */
declare module '*.css' {
  const text: string;
  export default text;
}
