/** The members of an honest snapshot.json that are the same whatever is published. */
import { PROBLEMS } from '../../../generator/outputs/openapi/problems.js';
import { publishedHeaders } from '../../../generator/routes/headers.js';

const limit = { tokens: 60, refill_seconds: 1 };

export const MEMBERS = {
  generator: { name: 'made-up', version: '1.0.0' },
  service: { base_url: 'https://register.example', docs: '/developers' },
  limits: { api: limit, download: limit, page: limit },
  headers: publishedHeaders('https://licence.example/'),
  errors: Object.fromEntries(
    PROBLEMS.map(({ code, status, title, detail }) => [code, { status, title, detail }]),
  ),
};
