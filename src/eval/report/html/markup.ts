/** A piece of a page. Only `html` makes one, so nothing reaches a page unescaped. */
export type Markup = { readonly markup: string }

type Part = Markup | string | number | null | undefined | readonly Part[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A template whose values are text: they are escaped, unless they are pieces of a page themselves. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Markup => ({
  markup: strings.map((text, index) => text + rendered(parts[index])).join(''),
})

function rendered(part: Part): string {
  if (part === null || part === undefined) return ''
  if (Array.isArray(part)) return part.map(rendered).join('')
  if (typeof part === 'object' && 'markup' in part) return part.markup
  return String(part).replace(/[&<>"']/gu, (character) => entities[character] ?? '')
}

export const nothing: Markup = { markup: '' }
