/** Texts that break feeds, and what a feed must say of them: the text itself, or its documented visible substitute. */

const C0 = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code));

export interface Nasty {
  readonly what: string;
  readonly text: string;
  readonly shown: string;
}

const as = (what: string, text: string, shown = text): Nasty => ({ what, text, shown });

/** Written out, so that the test does not share the source's arithmetic. */
const PICTURES = '␀␁␂␃␄␅␆␇␈\t\n␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟';

export const NASTY: readonly Nasty[] = [
  as('all C0 controls', C0.join(''), PICTURES),
  ...C0.map((text, code) =>
    as(`U+${code.toString(16).padStart(4, '0')}`, `a${text}b`, `a${PICTURES[code] ?? ''}b`),
  ),
  as('U+FFFE', 'a\ufffeb', 'a\ufffdb'),
  as('U+FFFF', 'a\uffffb', 'a\ufffdb'),
  as('a carriage return and line feed', 'one\r\ntwo', 'one␍\ntwo'),
  as('the end of CDATA', ']]>'),
  as('the end of CDATA twice', ']]>]]>'),
  as('half an end of CDATA, then the rest', ']] > ]]'),
  as('the start of CDATA', '<![CDATA[x'),
  as('an entity', '&amp;'),
  as('an entity twice', '&amp;amp;&amp;'),
  as('an ampersand', 'Q & A'),
  as('references', '&#0;&#x7;&lt;&nbsp;&quot;&unknown;'),
  as('markup', '<script>alert(1)</script><b>x'),
  as('a comment', '<!-- x --> <?php ?> <!DOCTYPE x>'),
  as('closing tags of our own', '</bdi></dd></dl></content></entry></feed>'),
  as('the id and start of an entry', '<entry><id>tag:golden.example,2026:user/1/username/2</id>'),
  as('the time of an entry', '<updated>2026-01-01T00:00:00.000Z</updated>'),
  as('quotes', `"double" 'single' \`back\``),
  as('a replacement pattern', `$& $1 $$ $\` $'`),
  as('a template', '{id} {month} ${x}'),
  as('right to left', 'مرحبا بالعالم'),
  as('mixed directions', 'abc שלום 123'),
  as('an override that is not ended', '\u202eevil'),
  as('marks', '\u200f\u200e\u061c'),
  as('a balanced isolate', '\u2067שלום\u2069 x'),
  as('C1 controls and DEL', 'a\u007f\u0080\u0085\u009fb', 'a␡\ufffd\ufffd\ufffdb'),
  as('what comes after C1', '\u00a0\u00ad'),
  as('line and paragraph separators', 'a\u2028b\u2029c'),
  as('a byte order mark', '\ufeffx'),
  as('emoji of several parts', '👩‍👩‍👧‍👦 🏳️‍🌈'),
  as('noncharacters beyond the first plane', 'a\u{1fffe}\u{10ffff}b'),
  as('combining marks', 'Z̷̢̛a̶l̸g̵o̴'),
  as('outer spaces', '  both  '),
  as('tabs and lines', '\tone\n\n two\t'),
  as('nothing', ''),
  as('10,000 characters', 'long text 😀 '.repeat(770).slice(0, 9999) + '.'),
  as('10,000 characters that grow', '<&>"'.repeat(2500)),
];
