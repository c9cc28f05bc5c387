/** One request, in the languages that the documentation shows. */

/** A request in a language. */
export interface Snippet {
  readonly language: string;
  readonly code: string;
}

/** What a snippet does with the response: an expression in JavaScript and in Python. */
export interface Use {
  /** The name of the variable that holds the parsed document. */
  readonly variable: string;
  readonly javascript: string;
  readonly python: string;
}

const PRINT: Use = { variable: 'data', javascript: 'data', python: 'data' };

/** GET of a URL that prints the document, or what the use makes of it. */
export const snippets = (url: string, { variable, javascript, python }: Use = PRINT): Snippet[] => [
  { language: 'curl', code: `curl "${url}"` },
  {
    language: 'JavaScript',
    code: [
      `const response = await fetch('${url}');`,
      'if (!response.ok) throw new Error(`HTTP ${response.status}`);',
      `const ${variable} = await response.json();`,
      `console.log(${javascript});`,
    ].join('\n'),
  },
  {
    language: 'Python',
    code: [
      'import json, urllib.request',
      `with urllib.request.urlopen('${url}') as response:`,
      `    ${variable} = json.load(response)`,
      `print(${python})`,
    ].join('\n'),
  },
];
