/** A part of a pattern: its source, its own parts, and how often it may repeat. */
type Part = {
  readonly kind: 'text' | 'sequence' | 'choice' | 'empty'
  readonly source: string
  readonly parts: readonly Part[]
  readonly least: number
  readonly most: number
}

const candidates = [
  'a',
  'A',
  '1',
  ' ',
  '\t',
  '\n',
  '-',
  '_',
  '.',
  ',',
  ':',
  '/',
  '"',
  "'",
  '`',
  '*',
  '#',
  '|',
  '<',
  '>',
  '=',
]
  .concat([
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '!',
    '?',
    '@',
    '\\',
    '+',
    '~',
    '&',
    ';',
    '%',
    '$',
    '^',
    'é',
    '\u200b',
    '’',
    '“',
    '•',
  ])
  .concat([...'bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ0234567890'])

/**
 * Texts of a given length that provoke backtracking: for each repeating part, a matching prefix, many repetitions of the part or of the
 * prefix, and an end that does not match.
 */
export function hostileTexts({ source, flags }: RegExp, length: number): readonly string[] {
  const charsOf = (one: string): readonly string[] => {
    const alone = new RegExp(`^(?:${one})$`, flags.replace(/[gyd]/g, ''))
    return candidates.filter((candidate) => alone.test(candidate)).slice(0, 3)
  }
  const sampleOf = (part: Part): string => {
    const once = (): string => {
      switch (part.kind) {
        case 'empty':
          return ''
        case 'text':
          return charsOf(part.source)[0] ?? ''
        case 'choice':
          return sampleOf(part.parts.find(({ parts, kind }) => kind === 'text' || parts.length > 0) ?? nothing)
        case 'sequence':
          return part.parts.map(sampleOf).join('')
      }
    }
    return once().repeat(Math.min(Math.max(part.least, part.most > 0 ? 1 : 0), 100))
  }
  const seeds = new Set<string>()
  const pumps = new Set<string>()
  const walk = (part: Part, before: string): void => {
    if (part.most > 15) {
      const single = { ...part, least: 1, most: 1 }
      const repeated = part.kind === 'text' ? charsOf(part.source) : [sampleOf(single), `${sampleOf(single)} `]
      for (const piece of repeated.filter((one) => one !== '')) {
        seeds.add(piece)
        pumps.add(`${before}\u0000${piece}`)
        seeds.add(`${before}${piece}`)
        seeds.add(`${piece}${before}`)
      }
    }
    if (part.kind === 'choice') for (const one of part.parts) walk(one, before)
    else if (part.kind === 'sequence') {
      let read = before
      for (const one of part.parts) {
        walk(one, read)
        read += sampleOf(one)
      }
    }
  }
  const whole = parsePattern(source)
  walk(whole, '')
  for (const one of [sampleOf(whole), sampleOf(whole).slice(0, -1)]) if (one !== '') seeds.add(one)
  const filled = (piece: string): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
  const ends = ['', '\u0001', ' x', '\n']
  return [
    ...[...pumps].flatMap((pump) => {
      const [before = '', piece = ''] = pump.split('\u0000')
      return ends.map((end) => `${before}${filled(piece)}${end}`)
    }),
    ...[...seeds].map((seed) => `${filled(seed)}\u0001`),
  ]
}

const nothing: Part = { kind: 'empty', source: '', parts: [], least: 1, most: 1 }

/** Parses a regular expression, but only as much of its structure as these tests need. */
export function parsePattern(source: string): Part {
  let at = 0
  const choice = (): Part => {
    const start = at
    const choices = [sequence()]
    while (source[at] === '|') {
      at += 1
      choices.push(sequence())
    }
    const [only] = choices
    if (choices.length === 1 && only !== undefined) return only
    return { kind: 'choice', source: source.slice(start, at), parts: choices, least: 1, most: 1 }
  }
  const sequence = (): Part => {
    const start = at
    const parts: Part[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(atom()))
    return { kind: 'sequence', source: source.slice(start, at), parts, least: 1, most: 1 }
  }
  const repeated = (part: Part): Part => {
    const [quantifier, least, comma, most] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/u.exec(source.slice(at)) ?? []
    if (quantifier === undefined) return part
    at += quantifier.length
    if (least === undefined) {
      const sign = quantifier[0]
      return { ...part, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Number.POSITIVE_INFINITY }
    }
    const upTo = comma === '' ? Number(least) : most === '' ? Number.POSITIVE_INFINITY : Number(most)
    return { ...part, least: Number(least), most: upTo }
  }
  const atom = (): Part => {
    const start = at
    const rest = source.slice(at)
    const group = /^\((?:\?(?:[:=!]|<[=!]|<\w+>|[a-z-]+:))?/u.exec(rest)?.[0]
    if (group !== undefined) {
      at += group.length
      const inner = choice()
      at += 1
      // Text matched by a look-around is not consumed, so it is not part of the prefix.
      return /^\(\?<?[=!]$/u.test(group)
        ? { ...nothing, source: source.slice(start, at) }
        : inner.least === 1 && inner.most === 1
          ? inner
          : { ...nothing, kind: 'sequence', parts: [inner] }
    }
    const [text = ''] =
      /^(?:\[(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]+\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|k<\w+>|.)|[\s\S])/u.exec(
        rest,
      ) ?? []
    at += text.length
    const isPlace = /^(?:[$^]|\\[bB]|\\k<\w+>|\\[1-9])$/u.test(text)
    return { kind: isPlace ? 'empty' : 'text', source: text, parts: [], least: 1, most: 1 }
  }
  return choice()
}
