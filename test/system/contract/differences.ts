/**
 * How the responses of edge servers differ from those of the proxy, and why; docs/edge-servers.md
 * lists the same sentences. Anything else that differs is a defect, and so is a difference listed
 * here that no longer shows.
 */

export const SERVERS = ['nginx', 'varnish before proxy'] as const;
export type ServerName = (typeof SERVERS)[number];

export interface Difference {
  readonly servers: readonly ServerName[];
  readonly where: RegExp;
  readonly what: RegExp;
  readonly why: string;
}

const NGINX: readonly ServerName[] = ['nginx'];
const VARNISH: readonly ServerName[] = ['varnish before proxy'];

export const DIFFERENCES: readonly Difference[] = [
  {
    servers: NGINX,
    where: /./,
    what: /^instance undefined/,
    why: 'Errors have no `instance`, since nginx can’t escape what a client sent.',
  },
  {
    servers: NGINX,
    where: /download/,
    what: /^Content-Disposition: attachment; filename="[a-z\d_.-]+", expected attachment; filename="[a-z_-]+-[-\d]+\.[a-z\d.]+"$/,
    why: 'The suggested names of downloads have no date, which would change the configuration with every snapshot.',
  },
  {
    servers: NGINX,
    where: /^(coding: none of a small document|limit: \?.*)$/,
    what: /^Vary: Accept-Encoding, expected none$/,
    why: '`Vary: Accept-Encoding` is also on documents without compressed forms, whose size the configuration doesn’t know.',
  },
  {
    servers: NGINX,
    where: /^coding: (gzip;q=0\.5, br;q=0\.4|\*), /,
    what: /^Content-Encoding: (br, expected gzip|undefined, expected br)$/,
    why: 'Of a weight in `Accept-Encoding`, only 0 counts, and `*` is ignored.',
  },
  {
    servers: NGINX,
    where: /^error page: text\/html;q=0\.9, application\/json;q=0\.1$/,
    what: /^(Content-(Type|Length|Security-Policy): .*|body of \d+ bytes, .*)$/,
    why: 'Of weights in `Accept`, only 1 counts: some clients get a problem document instead of a page.',
  },
  {
    servers: NGINX,
    where: /^range: .*, (download-groups-csv|group|group-page)$/,
    what: /^Accept-Ranges: undefined, expected bytes$/,
    why: 'A 206 has no `Accept-Ranges`, which nginx sends only with a 200.',
  },
  {
    servers: ['nginx'],
    where: /^range: HEAD, /,
    what: /^(status 206, expected 200|Content-Length: 2, expected \d+|Content-Range: bytes 0-1\/\d+, expected none)$/,
    why: 'A HEAD with `Range` gets the headers of a 206.',
  },
  {
    servers: NGINX,
    where: /^range: (after the end|bytes=-0|bytes=9+-), /,
    what: /^(Cache-Control: public, .*no-store, expected no-store|ETag: "[-0-9a-f]+", expected none|Link: (undefined|<[^>]+>; rel="(alternate"; type="application\/json|license)"), expected .*)$/,
    why: 'A 416 has the headers of the document, and `no-store` added to them.',
  },
  {
    servers: NGINX,
    where: /^limit: \?limit=%35$/,
    what: /^(status 400, expected 200|[A-Z][-\w]+: .*|body of \d+ bytes, .*)$/,
    why: 'A limit with percent-encoded digits is refused.',
  },
  {
    servers: NGINX,
    where: /^path: refuses \/%ff$/,
    what: /^(status 404, expected 400|Cache-Control: .*|type .*|error not_found .*)$/,
    why: 'A path whose escapes are not UTF-8 is a 404 instead of a 400.',
  },
  {
    servers: NGINX,
    where: /^no response names the software$/,
    what: /^server: nginx, expected none$/,
    why: 'The header `Server` names nginx, without a version.',
  },
  {
    servers: VARNISH,
    where:
      /^condition: (its ETag among others|any ETag|a date a minute later|If-Match with another|If-Match with its ETag as a weak one|If-Unmodified-Since with an earlier date), /,
    what: /./,
    why: 'Conditions are its own: lists of ETags and `*` don’t match, a later date does, and `If-Match` and `If-Unmodified-Since` are ignored.',
  },
  {
    servers: VARNISH,
    where: /^range: (two of them|another unit|HEAD|after the end|bytes=-0|bytes=9+-), /,
    what: /./,
    why: 'So are ranges: several of them or another unit are refused, HEAD gets a 206, and a 416 has the headers of the document and no body.',
  },
  {
    servers: VARNISH,
    where: /^no response names the software$/,
    what: /^via: .*Varnish/,
    why: 'The header `Via` names Varnish.',
  },
];
