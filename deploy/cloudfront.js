// A CloudFront Function (viewer request) in front of a bucket with a published tree: finds the file of
// a URL. The bucket or the distribution adds the headers, which snapshot.json has.
/* oxlint-disable */

/** The file of a URL. `limit` is the value of the parameter, if there is one. */
function fileOf(path, limit) {
  if (path === '/') return '/index.html';
  // No file has another name. Nothing else may reach the storage.
  if (!/^[A-Za-z0-9._~/-]+$/.test(path) || path.includes('/..')) return '/invalid';
  if (path === '/api/v1/largest') {
    if (limit === undefined) return '/api/v1/largest/100.json';
    return /^[1-9][0-9]*$/.test(limit) ? `/api/v1/largest/${limit}.json` : '/invalid';
  }
  if (path.startsWith('/api/')) return path.endsWith('.json') ? path : `${path}.json`;
  const page = path.replace(/^\/(group|user|game|item)\/[0-9]+$/, '/$1');
  return /^\/([^/.]+|developers\/[^.]+)$/.test(page) ? `${page}.html` : page;
}

function handler(event) {
  const { request } = event;
  const { limit } = request.querystring;
  request.uri = fileOf(request.uri, limit && limit.value);
  request.querystring = {};
  return request;
}
