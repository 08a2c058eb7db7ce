/** What the wording of a statement says about an earlier one. */
export type Correction = {
  readonly kind: 'statement' | 'correction' | 'retraction'
  /** The words that no longer hold. */
  readonly replaces: readonly string[]
  /** The statement without what it takes back, to find out what it is about. */
  readonly plain: string
}

const tidy = (text: string): string => text.replace(/^["'“‘\s]+|["'”’\s.,;!?]+$/gu, '').trim()
const withoutArticle = (text: string): string => tidy(text).replace(/^(?:the|a|an|my|our|in|at|on|to)\s+/iu, '')

/** "We've switched banks, it's Nordea now." */
const swapped =
  /^(?<who>I|we)(?:['’]ve| have)?\s+(?:just\s+|now\s+)?(?:switched|changed|swapped|replaced)\s+(?:our\s+|my\s+|the\s+)?(?<what>[^,;]{2,40}),\s+(?:and\s+|so\s+)?(?:it|that|they|he|she)(?:['’]s|['’]re|\s+is|\s+are)\s+(?:now\s+)?(?<now>.+?)(?:\s+now)?$/iu
/** "Paul has a new number: …" */
const hasNew =
  /^(?<who>[^,;:]{1,50}?)(?:['’]ve|\s+has|\s+have|['’]s)?\s+(?:got\s+)?(?:has\s+|have\s+)?an?\s+new\s+(?<what>[\p{L} -]{2,30}?)\s*(?::|,|\s[—–-])\s+(?:it(?:['’]s| is)\s+)?(?<now>.+)$/iu
/** "Tom doesn't work here any more", "Tom has left". */
const leaving =
  /^(?<who>\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*)?)\s+(?:(?:doesn['’]t|does not)\s+work(?:\s+(?:here|there|with us|for us))?\s+(?:any ?more|any longer)|no longer works(?:\s+(?:here|there|with us|for us))?|(?:has\s+)?(?:left|quit|resigned|retired)(?:\s+(?:us|the (?:company|firm|shop|team|band|club|job|school|practice|office)))?|was let go)(?:\s*[,;].*)?$/u
/** "Dr. Rao has changed my dose to 10 mg." */
const changedFor =
  /^[^,;]{2,50}?\s+(?:has\s+|have\s+|had\s+)?(?:changed|raised|lowered|increased|reduced|moved|set|put up|postponed|rescheduled|shifted)\s+(?<what>(?:my|our|the)\s+[^,;]{2,40}?)\s+(?:back\s+|up\s+|down\s+|forward\s+)?(?:to|until)\s+(?<now>.+)$/iu
/** "The deadline got pushed back by a week, so 11 May." */
const pushed =
  /^(?<what>\p{L}[^,;]{1,50}?)\s+(?:has been|have been|was|were|got|is|are|has|have)\s+(?:pushed back|pushed|postponed|delayed|brought forward|moved|extended|rescheduled)\b[^,;]{0,30},\s+(?:so|it(?:['’]s| is) now|now|to|until)\s+(?:it(?:['’]s| is)\s+)?(?:now\s+)?(?<now>.+)$/iu

/** "Gran's number has changed, it's 07700 900461 now." */
const changedItself =
  /^(?<what>(?:(?:my|our|the)\s+|[\p{L}'’-]+['’]s\s+)[^,;:]{2,40}?)\s+(?:has\s+|have\s+|just\s+)*(?:changed|moved)(?:\s+(?:again|recently|today|last \p{L}+))?\s*(?:[,;:]|\s[—–-])\s*(?:and\s+|so\s+|now\s+)?(?:it['’]?s|it is|they['’]?re|they are|new one:?)\s+(?:now\s+)?(?<now>.+?)(?:\s+now)?[.!]*$/iu
/** "We're not wintering in Tarifa any more, it's Essaouira this time." */
const elseNow =
  /^(?<before>.*?(?:\bno longer\b|\bnot\b|n['’]t\b).*?)(?:\s+(?:any ?more|any longer))?\s*(?:[,;]|\s[—–-])\s*(?:but\s+|and\s+)?(?:now\s+)?it['’]?s\s+(?:now\s+)?(?<now>[^,;]{1,60}?)(?:\s+(?:now|these days|this time|this year|from now on|instead))?[.!]*$/iu

/** Other ways to say that something has become something else. */
function changeIn(text: string): Correction | null {
  const change = (plain: string): Correction => ({ kind: 'correction', replaces: [], plain })
  const swap = swapped.exec(text)?.groups
  if (swap !== undefined) return change(`our ${(swap.what ?? '').replace(/(?<=[^s])s$/iu, '')} is ${swap.now}`)
  const fresh = hasNew.exec(text)?.groups
  if (fresh !== undefined) {
    const who = fresh.who ?? ''
    const whose = /^(?:i|we)$/iu.test(who) ? 'my' : `${who}'s`
    return change(`${whose} ${fresh.what} is ${fresh.now}`)
  }
  const itself = changedItself.exec(text)?.groups
  if (itself !== undefined) return change(`${itself.what} is ${itself.now}`)
  const instead = elseNow.exec(text)?.groups
  if (instead !== undefined && noLonger.test(text)) {
    const was = positive(instead.before ?? '')
    const [old] = lastNamed.exec(was) ?? objectOf(was)
    if (old !== undefined && old !== '')
      return { kind: 'correction', replaces: [old], plain: was.replace(old, () => instead.now ?? '') }
  }
  const left = leaving.exec(text)?.groups?.who
  if (left !== undefined) return { kind: 'retraction', replaces: [], plain: `${left} works here` }
  const changed = changedFor.exec(text)?.groups
  if (changed !== undefined) return change(`${changed.what} is ${changed.now}`)
  const later = pushed.exec(text)?.groups
  return later === undefined ? null : change(`${later.what} is ${later.now}`)
}

/** Reads "not X but Y", "no longer", "moved from X to Y" and the like out of a statement. */
export function correctionIn(text: string, isMarked: boolean): Correction {
  const change = changeIn(text)
  if (change !== null) return change
  const marked = isMarked ? ('correction' as const) : ('statement' as const)

  const notBut = /\bnot\s+(?<old>[^,;]{1,60}?),?\s+but\s+(?:rather\s+)?(?<now>\S.*)$/iu.exec(text)
  if (notBut?.groups !== undefined && !/\bnot\s+only\b/iu.test(text)) {
    const plain = `${text.slice(0, notBut.index)}${notBut.groups.now}`
    return { kind: 'correction', replaces: [withoutArticle(notBut.groups.old ?? '')], plain }
  }
  const commaNot = /^(?<now>.+?),\s+(?:and\s+)?not\s+(?<old>[^,;]{1,60}?)\s*(?:any ?more|any longer)?[.!]*$/iu.exec(
    text,
  )
  if (commaNot?.groups !== undefined) {
    const { now = text, old = '' } = commaNot.groups
    const isFragment = !/\b(?:is|are|am|was|were|has|have|my|our|i|we)\b/iu.test(now)
    // "I like tea, not coffee" takes nothing back.
    const isChange = isMarked || isFragment || /^(?:it|that|this)\b/iu.test(now) || /\bnow\b/iu.test(now)
    return isChange
      ? { kind: 'correction', replaces: [withoutArticle(old)], plain: now }
      : { kind: 'statement', replaces: [], plain: now }
  }
  const plainNot =
    /^(?<now>.*(?:\p{Lu}[\p{L}\p{N}]*|\d\S*))\s+not\s+(?<old>\p{Lu}[\p{L}\p{N}]*|\p{L}?\d\S*?)[.!]*$/u.exec(text)
  if (plainNot?.groups !== undefined) {
    return { kind: 'correction', replaces: [plainNot.groups.old ?? ''], plain: plainNot.groups.now ?? text }
  }
  const fromTo =
    /^(?<before>.*?)\b(?:(?:moved?|relocated|switched|migrated|changed|transferred|renamed|upgraded|downgraded|went|converted|rescheduled|postponed|pushed|shifted|brought forward|pulled forward)(?:\s+(?:back|over|house|jobs|my \p{L}+|our \p{L}+|it|everything))?)\s+from\s+(?<old>.{1,60}?)\s+to\s+(?<now>.+)$/iu.exec(
      text,
    )
  if (fromTo?.groups !== undefined) {
    const verb = text.slice((fromTo.groups.before ?? '').length).split(/\s+from\s+/iu)[0] ?? ''
    return {
      kind: 'correction',
      replaces: [withoutArticle(fromTo.groups.old ?? '')],
      plain: plainAfter(fromTo.groups.before ?? '', verb, fromTo.groups.now ?? ''),
    }
  }
  const movedTo =
    /^(?<before>\p{L}[^,;]{0,60}?)\s+(?:has\s+|have\s+|had\s+)?(?:been\s+|was\s+|were\s+|is\s+|are\s+|got\s+)?(?:now\s+)?(?:changed|moved|rescheduled|postponed|pushed(?: back)?|shifted|delayed|brought forward|renamed|updated|switched|increased|reduced|raised|lowered|extended|gone (?:up|down)|went (?:up|down)|risen|dropped)\s+(?:to|until)\s+(?<now>.+)$/iu.exec(
      text,
    )
  if (movedTo?.groups !== undefined && !/^(?:i|we|he|she|they)\b/iu.test(text)) {
    const isOwn =
      /\b(?:been|was|were|is|are|got|changed|renamed|updated|rescheduled|postponed|delayed|increased|reduced|raised|lowered|extended|pushed|gone|went|risen|dropped)\b/iu.test(
        text,
      )
    // "My sister moved to Rome" is about where she lives.
    if (isOwn || !/\bmoved\s+to\b/iu.test(text) || /\d|days?\b/u.test(movedTo.groups.now ?? '')) {
      return { kind: 'correction', replaces: [], plain: `${movedTo.groups.before} is ${movedTo.groups.now}` }
    }
    return {
      kind: 'correction',
      replaces: [],
      plain: `${(movedTo.groups.before ?? '').replace(/\s+(?:has|have)$/iu, '')} lives in ${movedTo.groups.now}`,
    }
  }
  const insteadOf = /^(?<now>.+?),?\s+(?:instead of|in place of)\s+(?<old>[^,;.]{1,60})(?<more>.*)$/iu.exec(text)
  if (insteadOf?.groups !== undefined) {
    const { now = '', old = '' } = insteadOf.groups
    const isChange = isMarked || /\b(?:now|switched|moved|changed|from now on|will be|went with)\b/iu.test(text)
    return isChange
      ? { kind: 'correction', replaces: [withoutArticle(old)], plain: withoutNow(now) }
      : { kind: 'statement', replaces: [], plain: text }
  }
  const replaced = /\breplaced\s+(?<old>.{1,50}?)\s+(?:with|by)\s+(?<now>.+)$/iu.exec(text)
  if (replaced?.groups !== undefined) {
    return {
      kind: 'correction',
      replaces: [withoutArticle(replaced.groups.old ?? '')],
      plain: text.replace(replaced[0], `use ${replaced.groups.now}`),
    }
  }
  const usedTo =
    /\bused to (?:be |live in |work (?:at|for|in) |use )?(?<old>[^,;]{1,50}?),?\s+(?:but\s+)?(?:(?:it|he|she|they|I|we)(?:['’]s|['’]m|['’]re|\s+(?:is|am|are))?\s+)?now\s+(?<now>.+)$/iu.exec(
      text,
    )
  if (usedTo?.groups !== undefined) {
    return {
      kind: 'correction',
      replaces: [withoutArticle(usedTo.groups.old ?? '')],
      plain: `${text.slice(0, usedTo.index)}is ${usedTo.groups.now}`,
    }
  }
  if (noLonger.test(text)) {
    const plain = positive(text)
    return { kind: 'retraction', replaces: objectOf(plain), plain }
  }
  const gaveUp =
    /^(?<who>I|we)(?:['’]ve| have)?\s+(?:just\s+|recently\s+|finally\s+)?(?:stopped|quit|gave up|given up|dropped|abandoned|sold|cancelled|canceled|got rid of|ditched)\s+(?:using\s+|eating\s+|drinking\s+|taking\s+|working (?:at|for)\s+)?(?<old>.{2,60}?)(?<when>\s+(?:in|on|last|since|for)\s+[^,;]*)?[.!]*$/iu.exec(
      text,
    )
  if (gaveUp?.groups !== undefined) {
    return {
      kind: 'retraction',
      replaces: [withoutArticle(gaveUp.groups.old ?? '')],
      plain: `${gaveUp.groups.who} use ${gaveUp.groups.old}`,
    }
  }
  const off =
    /^(?<what>\p{L}.{1,60}?)\s+(?:is|are|was|were|has been|have been|got)\s+(?:now\s+)?(?:cancelled|canceled|called off|off the table|obsolete|discontinued|over|gone|scrapped|abandoned|shut down)\b/iu.exec(
      text,
    )
  if (off?.groups !== undefined)
    return { kind: 'retraction', replaces: [withoutArticle(off.groups.what ?? '')], plain: text }

  const isNow =
    /^\p{L}.*\b(?:is|are|am) (?:now|actually)\b|^(?:my|our|the|\p{L}+['’]s)\s+new\b|\bas of (?:today|now|this)\b|\bfrom now on\b|\bthese days\b/iu.test(
      text,
    ) ||
    /\bnow(?:\s*[.!]*$|,?\s+(?:because|since|as)\s)/iu.test(text) ||
    turned.test(text) ||
    withoutNow(text) !== text
  const plain = withoutNow(text)
    .replace(/\b(is|are|am) (?:now|actually)\b/iu, '$1')
    .replace(/^(my|our|the|\p{L}+['’]s)\s+new\s+/iu, '$1 ')
    .replace(/(?<=\b(?:is|are|am)\s.*)\s+now(?=$|,?\s+(?:because|since|as)\s)/iu, '')
  return { kind: isNow || isMarked ? 'correction' : marked, replaces: [], plain }
}

const noLonger = /\bno longer\b|(?:\bnot|n['’]t)\b.{0,80}?\s(?:any ?more|any longer)\b/iu
/** The last name in a text. */
const lastNamed = /\p{Lu}[\p{L}\p{N}-]*(?:\s\p{Lu}[\p{L}\p{N}-]*)*(?=[^\p{Lu}]*$)(?<!^.{0,3})/u

/** What is no longer so, as if it still were. */
const positive = (text: string): string =>
  text
    .replace(/\bno longer\s+/iu, '')
    .replace(/\b(?:do|does|did|have|has|had)(?:n['’]t|\s+not)\s+/iu, '')
    .replace(/\b(am|is|are|was|were)(?:n['’]t|\s+not)\s+/iu, '$1 ')
    .replace(/(['’](?:m|re|s))\s+not\s+/iu, '$1 ')
    .replace(/\bcan(?:['’]t|not)\s+/iu, '')
    .replace(/\s+(?:any ?more|any longer)\b/iu, '')

/** "Ida turned seven." */
const turned =
  /\bturned\s+(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\p{L}+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b/iu

/** "My aunt now comes on Fridays" is "my aunt comes on Fridays". */
const withoutNow = (text: string): string =>
  text.replace(
    /^(?<who>(?:my\s+|our\s+|the\s+)?[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]*)?)\s+now\s+(?=\p{Ll}+s\s)/iu,
    '$<who> ',
  )

/** "I moved from Porto to Lisbon" is about where I live now; "the deadline moved from 3 to 5 May" about the deadline. */
function plainAfter(before: string, verb: string, now: string): string {
  const subject = before
    .replace(/\s+(?:has|have|had|['’]ve|was|were|is|been|just|recently|finally|now)\b/giu, '')
    .trim()
  if (/^(?:i|we)(?:['’]ve)?$/iu.test(subject)) {
    const who = subject.replace(/['’].*$/u, '')
    return /^(?:moved?|relocated|transferred)/iu.test(verb) ? `${who} moved to ${now}` : `${who} use ${now}`
  }
  return /^(?:moved?|relocated)$/iu.test(verb.trim()) &&
    !/^(?:the|our|my\s+(?:appointment|meeting|flight|exam|deadline))/iu.test(subject)
    ? `${subject} lives in ${now}`
    : `${subject} is ${now}`
}

/** What "I no longer use X" is about. */
function objectOf(plain: string): readonly string[] {
  const object =
    /^(?:I|we|my \S+|our \S+|the \S+|\p{L}\S*)(?:['’]\p{L}+)?\s+(?:am |is |are |was )?\p{L}+\s+(?:(?:at|for|in|on|to|with|by|as|a|an|the)\s+)*(?<object>(?:[^,;.]|(?<=\b(?:Dr|Mr|Mrs|Ms|Prof|St))\.){1,60})/iu.exec(
      plain,
    )?.groups?.object
  return object === undefined ? [] : [withoutArticle(object)]
}
