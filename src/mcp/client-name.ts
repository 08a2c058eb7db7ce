const longestName = 60

/** What an agent's writings are signed with: the name its program goes by, without anything that could mislead. */
export function originOf(name: string | undefined): string {
  const plain = (name ?? '')
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}._@/ -]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, longestName)
    .trim()
  return plain === '' ? 'mcp' : plain
}

/** Names that say only which library sent a request. */
const libraries = new Set(['node', 'undici', 'axios', 'python-httpx', 'go-http-client'])

/** The program named first in a User-Agent header, for clients that say nothing else about themselves. */
export function programIn(userAgent: string | null | undefined): string | undefined {
  const [name] = /^[^\s/();,]+/.exec(userAgent ?? '') ?? []
  return name === undefined || libraries.has(name.toLowerCase()) ? undefined : name
}
