/** What a placeholder may stand for. A list stands for several texts, an object for itself. */
export type TemplateValue = string | number | readonly string[] | { readonly [key: string]: Template }
export type TemplateValues = Readonly<Record<string, TemplateValue>>

/** A JSON value in whose texts `{{name}}` stands for a value. */
export type Template = string | number | boolean | null | readonly Template[] | { readonly [key: string]: Template }

const placeholder = /\{\{\s*([A-Za-z]+)\s*\}\}/gu
const wholePlaceholder = /^\{\{\s*([A-Za-z]+)\s*\}\}$/u

/** Every placeholder that occurs in a template, each once. */
export function placeholdersIn(template: Template): readonly string[] {
  return [
    ...new Set(textsIn(template).flatMap((text) => [...text.matchAll(placeholder)].map(([, name]) => name ?? ''))),
  ]
}

function textsIn(template: Template): readonly string[] {
  if (typeof template === 'string') return [template]
  if (template === null || typeof template !== 'object') return []
  return Object.values(template).flatMap(textsIn)
}

/**
 * Puts values in. A text that is nothing but a placeholder becomes the value itself, whatever that is; a list inside a
 * list becomes part of it, and what is empty is left out there. Inside a longer text a list is joined by commas, and an
 * object written as JSON.
 */
export function fillTemplate(template: Template, values: TemplateValues): Template {
  if (typeof template === 'string') {
    const whole = wholeValue(template, values)
    return whole === undefined ? fillText(template, values) : whole
  }
  if (template === null || typeof template !== 'object') return template
  if (isList(template)) return template.flatMap((item) => fillItem(item, values))
  return Object.fromEntries(Object.entries(template).map(([key, inner]) => [key, fillTemplate(inner, values)]))
}

/** Puts values into a text, which stays one. */
export const fillText = (text: string, values: TemplateValues): string =>
  text.replaceAll(placeholder, (written, name: string) => {
    const value = values[name]
    if (value === undefined) return written
    if (typeof value !== 'object') return String(value)
    return isListValue(value) ? value.join(', ') : JSON.stringify(value)
  })

function fillItem(item: Template, values: TemplateValues): readonly Template[] {
  const whole = typeof item === 'string' ? wholeValue(item, values) : undefined
  if (whole === undefined) return [fillTemplate(item, values)]
  const all: readonly Template[] = isListValue(whole) ? whole : [whole]
  return all.filter((value) => value !== '')
}

function wholeValue(text: string, values: TemplateValues): TemplateValue | undefined {
  const name = text.match(wholePlaceholder)?.[1]
  return name === undefined ? undefined : values[name]
}

// Array.isArray alone does not narrow a read-only list.
const isList = (value: Template): value is readonly Template[] => Array.isArray(value)
const isListValue = (value: TemplateValue): value is readonly string[] => Array.isArray(value)
