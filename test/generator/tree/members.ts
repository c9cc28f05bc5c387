/** The members of an honest snapshot.json that are the same whatever is published. */
import { PROBLEMS } from '../../../generator/outputs/openapi/problems.js';
import { publishedHeaders } from '../../../generator/routes/headers.js';

const limit = { tokens: 60, refill_seconds: 1 };

export const MEMBERS = {
  generator: { name: 'made-up', version: '1.0.0' },
  service: {
    name: 'made up',
    url: 'https://register.example',
    base_url: 'https://register.example',
    docs: '/developers',
    description: '/api/v1/openapi.json',
    licence: { name: 'a licence', url: 'https://licence.example/' },
    tag_authority: 'register.example',
  },
  limits: { api: limit, download: { ...limit, token_bytes: 1 }, page: limit },
  headers: publishedHeaders('https://licence.example/'),
  errors: Object.fromEntries(
    PROBLEMS.map(({ code, status, title, detail }) => [code, { status, title, detail }]),
  ),
};
