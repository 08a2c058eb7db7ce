import { accountNumberLength, isCardNumber } from './check-digits.ts'
import { decodeWord } from './hidden-texts.ts'
import { commonAfterIs, findNamedSecrets, isPassword, numberName } from './named-secrets.ts'
import {
  equalGroups,
  findRandomSecrets,
  isLiteral,
  isMixed,
  isRandom,
  passwordOrKey,
  type Secret,
} from './randomness.ts'

type SecretPattern = {
  readonly pattern: RegExp
  readonly what: string
  /** A faster pattern that every text with a match also matches. Texts that do not match it are skipped. */
  readonly hint?: RegExp
  /** A condition on the match, or on its group `value` if it has one. */
  readonly isSecret?: (value: string, match: RegExpExecArray) => boolean
}

const cardNumber = 'a card number'

const digitWord = `(?:${[
  'zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple',
  'null|eins|zwo|zwei|drei|vier|fünf|sechs|sieben|acht|neun',
  'zéro|un|deux|trois|quatre|cinq|sept|huit|neuf',
  'cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve',
].join('|')})`
const fourDigitWords = String.raw`(?<!\p{L})${digitWord}(?:(?:,? |-)${digitWord}){3,40}(?!\p{L})`
/** Four or more digits as words: "nine two seven seven". */
export const spokenDigits = new RegExp(fourDigitWords, 'giu')

const markWithin = /[A-Za-z0-9][!#$^&~?@][A-Za-z0-9]/u

/**
 * White space is always bounded, and no match can begin in the middle of a longer one, so that each pattern takes time in
 * proportion to the text.
 */
const patterns: readonly SecretPattern[] = [
  {
    pattern:
      /-----BEGIN [\w ]{0,40}(?:PRIVATE|STATIC) KEY[\w ]{0,20}-----(?:[\s\S]*?-----END [\w ]{0,40}(?:PRIVATE|STATIC) KEY[\w ]{0,20}-----|[\s\S]*)/giu,
    what: 'a private key',
  },
  {
    pattern: /\b[a-z][a-z+]{0,20}:\/\/[^\s:/@]{0,100}:(?<password>[^\s:/@]{3,200})@\S*/giu,
    what: 'an address with a password in it',
    hint: /:\/\//u,
    isSecret: (_, { groups }) => isLiteral(groups?.password ?? ''),
  },
  {
    pattern: /\bbasic\s{1,8}(?<value>[A-Za-z0-9+/]{8,}={0,2})/dgiu,
    what: 'a name and a password to log in with',
    isSecret: (value) => (decodeWord(value)?.indexOf(':') ?? 0) > 0,
  },
  // Groups of digits as printed on cards: 4 4 4 4, 4 6 5 and 4 6 4.
  {
    pattern:
      /(?<![\w.-])(?:[2-6]\d{12,18}|[2-6]\d{3}(?:[ -]\d{4}){3}(?:[ -]?\d{3})?|3\d{3}[ -]\d{6}[ -]\d{4,5})(?!\w|[.-]\d)/gu,
    what: cardNumber,
    isSecret: isCardNumber,
  },
  // A name and a password as an option: curl -u name:password
  {
    pattern: /(?<=\s(?:-u|--user)[ =]["']?)[\w.@-]{1,100}:(?<value>[^\s"':/]{8,200})/dgu,
    what: 'a name and a password to log in with',
    hint: /-u/u,
    isSecret: (value) => isLiteral(value) && /\d/u.test(value) && /\p{L}/u.test(value),
  },
  // The option -p of a program whose name ends in "pass": sshpass -p …
  {
    pattern: /(?<=(?<![\w-])\w{0,20}pass(?:wd)?\s(?:-[a-oq-z]\s){0,4}-p\s?["']?)(?<value>[^\s"']{5,200})/dgu,
    what: passwordOrKey,
    hint: /pass/u,
    isSecret: (value) => isLiteral(value) && /\p{L}/u.test(value),
  },
  // A password directly after -p, or as the argument of -P or -w: mysql -pSECRET, ipmitool -P SECRET
  {
    pattern: /(?<=\s-(?:p|P |w ))(?<value>[^\s"'-][^\s"':]{5,200})/dgu,
    what: passwordOrKey,
    hint: /-p/iu,
    isSecret: (value) => isLiteral(value) && isPassword(value),
  },
  // A field of a form, and a line of .netrc.
  {
    pattern:
      /<(?=[^<>]{0,300}\b(?:type|name|id)=["']?\w{0,20}(?:pass(?:w(?:or)?d|code)?|pwd?|secret|token)["'\s>])[^<>]{0,300}?\bvalue=["']?(?<value>[^"'<>\s]{4,200})/dgiu,
    what: passwordOrKey,
    hint: /value=/iu,
    isSecret: isLiteral,
  },
  {
    pattern:
      /\b(?:machine\s{1,8}\S{1,200}|default)\s{1,20}login\s{1,8}\S{1,100}\s{1,20}password\s{1,8}(?<value>\S{3,200})/dgu,
    what: passwordOrKey,
    hint: /login/u,
  },
  // An SQL statement that creates an account.
  {
    pattern: /\bidentified\s{1,8}(?:with\s{1,8}\S{1,60}\s{1,8})?by\s{1,8}(["'])(?<value>[^"'\n]{1,200})\1/dgiu,
    what: passwordOrKey,
    hint: /identified/iu,
    isSecret: isLiteral,
  },
  // A name, a slash and a password before a host, as Oracle writes it.
  {
    pattern: /(?<![^\s"':=])[\w.:-]{1,100}\/(?<value>[^\s/@"']{4,100})@\/\/(?=\w)/dgu,
    what: 'an address with a password in it',
    hint: /@\/\//u,
  },
  // An account name, a slash or bar, and a password.
  {
    pattern:
      /\b(?:log[ -]?in|sign[ -]?in|user(?:name)?|account|credentials?)\b(?:\s{1,4}(?:details|data|info))?(?:\s{1,4}(?:for|to|of|on)\s[^\n:=]{1,40}?)?(?:\s{0,4}(?:is|are|:|=|->)\s{0,4}|\s{1,4})(?<value>[^\s/|]{1,100}@[^\s/|]{1,100}[ \t]{0,4}[/|][ \t]{0,4}\S{1,200}|[\p{L}\p{N}][^\s/|]{0,100}[ \t]{1,4}[/|][ \t]{1,4}(?=\S{0,200}[^\p{L}\s.,;!-])\S{1,200})/dgiu,
    what: 'a name and a password to log in with',
    hint: /[/|]/u,
    isSecret: (value) => isLiteral(value.split('@', 1)[0] as string),
  },
  // Recovery codes and keys for an account or a disk, in groups of digits or letters.
  {
    pattern:
      /(?:recovery|backup|rescue|licen[cs]e|product)[ _-]?(?:codes?|keys?|pass(?:code|phrase))\b["'”’`]?[^\n.!?:=]{0,60}?(?:\s(?:is|are|was)\s(?!left)|\s{0,4}[:=]\s{0,4}(?:\[\s{0,40})?)["'“‘`]?(?<value>[A-Za-z\d]{4,12}(?:(?:[ -]|["']?, ?["']?(?=[A-Za-z-]{0,12}\d))[A-Za-z\d]{4,12}){0,24})/dgiu,
    what: 'a recovery code',
    hint: /recovery|backup|rescue|licen[cs]e|product/iu,
    isSecret: (value) => /\d/u.test(value) || equalGroups.test(value),
  },
  // A password of several words and a number. A number before a plural noun is a count, not part of a password.
  {
    pattern:
      /\bpass(?:word|code)(?:\s{1,4}(?:for|of|to|on)\s{1,4}[^:=\n,.]{1,60}?)?\s{0,4}(?:is|was|:|=)\s{0,4}(?<value>(?:[\p{L}\p{N}-]{2,20} ){1,5}[\p{L}\p{N}-]{2,20})(?=[,.;!?\n]|$)/dgiu,
    what: passwordOrKey,
    hint: /pass/iu,
    isSecret: (value) =>
      /(?<![^ ])\d+(?![^ ]| \p{L}+s(?: |$))/iu.test(value) && !commonAfterIs.test(value.split(' ', 1)[0] as string),
  },
  // The text in a Wi-Fi QR code.
  { pattern: /\bWIFI:[^\n]{0,200}?;P:(?<value>(?:\\.|[^;\n\\]){3,100})/dgu, what: passwordOrKey, hint: /WIFI:/u },
  // A link that logs in anyone who opens it.
  {
    pattern: /[?&#](?<name>[\w-]{1,40})=(?<value>[^\s"'<>&#]{8,400})/dgu,
    what: 'an access token',
    hint: /:\/\//u,
    isSecret: (value, { groups }) => {
      const name = groups?.name ?? ''
      if (!isLiteral(value)) return false
      return (
        /(?:token|passw(?:or)?d|secret|otp)$/iu.test(name) || (/(?:key|sig|signature)$/iu.test(name) && isRandom(value))
      )
    },
  },
  {
    pattern:
      /\/[\w-]{0,20}(?:log-?in|sign-?in|auth|token|magic|key|hooks?|private-(?=[\da-f]))(?:(?<=-)|[\w-]{0,20}\/)(?<value>[\w-]{12,200})(?![\w-])/dgiu,
    what: 'an access token',
    hint: /:\/\//u,
    isSecret: isRandom,
  },
  // The words of a wallet's recovery phrase.
  {
    pattern: /(?<![\p{L}\p{N}'’-])(?:[a-z]{3,8} ){11,23}[a-z]{3,8}(?![\p{L}\p{N}'’-])/gu,
    what: 'a recovery phrase',
    hint: /wallet|mnemonic|seed|recover/iu,
    isSecret: (words) => !/\b(?:the|and|for|are|was|but|not|your|that|with|from|they|when)\b/u.test(words),
  },
  // A word of small letters, capitals and digits joined by punctuation, a form that only passwords have.
  {
    pattern: /(?<![^\s"'“„«:：=(])[^\s"'“”„«»`()[\]{}<>/\\=.,;:：|%*]{8,40}(?=["'”“»]?[.,;:!?)}\]]{0,3}(?:[\s"']|$))/gu,
    what: passwordOrKey,
    hint: markWithin,
    isSecret: (value) => isMixed(value) && markWithin.test(value),
  },
  {
    pattern: new RegExp(String.raw`${numberName}[^\n.!?]{0,60}?(?<value>${fourDigitWords})`, 'dgiu'),
    what: 'a number that proves who somebody is',
    hint: new RegExp(numberName, 'iu'),
  },
]

/** A passphrase or recovery phrase. It consists of plain words, so only the name before it shows that it is a secret. */
const phrase =
  /\b(?<kind>pass ?phrase|seed phrase|recovery phrase)\b(?:\s{1,4}(?:for|of|to|on|at|in)\s{1,4}[^:=\n]{1,60}?)?\s{0,4}(?:is|was|['’]s|=|:|->)\s{0,4}["'“‘`]?(?<value>[^\s"'”’`][^\n"”`;.!?]{0,400})/dgiu

/** A card's expiry date. Counts only in a text that also has a card number. */
const expiry =
  /\b(?:exp(?:iry|ires|iration|\.)?(?: date)?|valid (?:thru|until|to))\s{0,4}:?\s{0,4}(?<value>\d{1,2}\s?[/-]\s?\d{2,4})\b/dgiu
const accountNumber = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}/giu

/** Finds the secrets in a text that is not encoded; they may overlap. Yields after every short step. */
export function* searchWrittenSecrets(text: string): Generator<void, Secret[]> {
  // Named secrets come first: if two secrets have the same place, the first one's description is used.
  const found: Secret[] = []
  for (const find of [findNamedSecrets, findRandomSecrets])
    for (const secret of find(text)) {
      if (secret === null) yield
      else found.push(secret)
    }
  for (const { pattern, what, hint, isSecret } of patterns) {
    if (hint !== undefined && !hint.test(text)) continue
    for (const match of text.matchAll(pattern)) {
      yield
      if (isSecret === undefined || isSecret(match.groups?.value ?? match[0], match)) found.push(secretOf(match, what))
    }
  }
  if (found.some(({ what }) => what === cardNumber))
    for (const match of text.matchAll(expiry)) found.push(secretOf(match, cardNumber))
  for (const match of text.matchAll(accountNumber)) {
    yield
    const length = accountNumberLength(match[0])
    if (length > 0) found.push({ start: match.index, end: match.index + length, what: 'the number of a bank account' })
  }
  for (const match of text.matchAll(phrase)) {
    const [first = ''] = (match.groups?.value ?? '').split(/\s/u)
    const what = /^pass/iu.test(match.groups?.kind ?? '') ? 'a passphrase' : 'a recovery phrase'
    const isPlace = /^\S+ (?:on|in|at|by|under|behind) (?:the|a|my|our|your)\b/iu.test(match.groups?.value ?? '')
    if (!isPlace && !commonAfterIs.test(first) && isLiteral(first)) found.push(secretOf(match, what))
  }
  found.push(...passwordsInTables(text))
  const beside = new Map<string, Secret>()
  for (const secret of found.filter(({ what }) => what === passwordOrKey)) {
    yield
    for (const one of passwordsBeside(text, secret)) beside.set(`${one.start} ${one.end}`, one)
  }
  return [...found, ...beside.values()]
}

/** The cells below a heading such as "Password" in a table whose columns are separated by bars, tabs, commas or semicolons. */
function* passwordsInTables(text: string): Generator<Secret> {
  if (!/pass|pwd/iu.test(text)) return
  let columns: { readonly mark: string; readonly count: number; readonly places: readonly number[] } | null = null
  let start = 0
  for (const line of text.split('\n')) {
    const cells = columns === null ? [] : line.split(columns.mark)
    if (columns !== null && cells.length === columns.count) {
      let at = start
      for (const [place, cell] of cells.entries()) {
        const value = cell.trim().replace(/^["'`]|["'`]$/gu, '')
        const from = at + cell.indexOf(value)
        if (columns.places.includes(place) && value.length >= minCellLength && !/^[-:]*$/u.test(value))
          yield { start: from, end: from + value.length, what: passwordOrKey }
        at += cell.length + 1
      }
    } else columns = passwordColumns(line)
    start += line.length + 1
  }
}

const minCellLength = 3

function passwordColumns(line: string) {
  const mark = ['|', '\t', ';', ','].find((one) => line.includes(one))
  const cells = mark === undefined ? [] : line.split(mark).map((cell) => cell.trim())
  const places = [...cells.keys()].filter((place) =>
    /^["'`*]*(?:pass(?:word|code)|pwd)["'`*]*$/iu.test(cells[place] ?? ''),
  )
  return mark === undefined || places.length === 0 ? null : { mark, count: cells.length, places }
}

/** Max distance in characters to another password in the same paragraph. */
const besideCharacters = 200

/**
 * Words near a password that look like a password too. Credentials often appear in groups, and the label of one may be
 * in a language that these patterns do not cover.
 */
function passwordsBeside(text: string, { start, end }: Secret): readonly Secret[] {
  const before = text.slice(Math.max(0, start - besideCharacters), start)
  const after = text.slice(end, end + besideCharacters)
  const above = before.slice(before.lastIndexOf('\n\n') + 1)
  const below = after.split('\n\n', 1)[0] as string
  return [...passwordsIn(above, start - above.length), ...passwordsIn(below, end)]
}

const passwordsIn = (text: string, offset: number): readonly Secret[] =>
  [...text.matchAll(/(?<![\p{L}\p{N}])[^\s:：/=.,;"'“”„«»()<>]{8,100}/gu)]
    .filter(([word]) => isMixed(word) && isLiteral(word))
    .map(({ index, 0: word }) => ({ start: offset + index, end: offset + index + word.length, what: passwordOrKey }))

function secretOf(match: RegExpExecArray, what: string): Secret {
  const [start, end] = match.indices?.groups?.value ?? [match.index, match.index + match[0].length]
  return { start, end, what }
}
