import type { Task } from '../task.ts'

export type JudgedCriterion = {
  /** `c1`, `c2` …: what the judge's answer is keyed by. */
  readonly id: string
  readonly name: string
  /** Of all weights together; they sum to 1. */
  readonly weight: number
}

export type JudgedRubric = {
  readonly criteria: readonly JudgedCriterion[]
  readonly text: string
  /** `weighted`: by the rubric's own percentages. `equal`: it gives none. `checklist`: there is no rubric at all. */
  readonly basis: 'weighted' | 'equal' | 'checklist'
  readonly warnings: readonly string[]
}

/** `### Criterion 1: Memory Storage (Weight: 15%)`, with or without the marks of a heading, number or weight. */
const weighted =
  /^\s*(?:#{1,6}\s*|[-*]\s+)?(?:\*\*|__)?\s*(?:criterion\s*\d*\s*[:.–—-]\s*)?(?<name>.+?)\s*[([]\s*weight(?:ing)?\s*[:=]?\s*(?<percent>\d+(?:\.\d+)?)\s*%\s*[)\]]/iu
const titled = /^\s*(?:#{1,6}\s*|(?:\*\*|__))\s*criterion\s*\d*\s*[:.–—-]\s*(?<name>.+?)\s*(?:\*\*|__)?\s*:?\s*$/iu

/** The criteria that a judge scores, with their weights; null when the task has neither a rubric nor criteria. */
export function rubricOf({ rubric, criteria }: Pick<Task, 'rubric' | 'criteria'>): JudgedRubric | null {
  if (rubric !== null && rubric.trim() !== '') {
    const lines = outsideFences(rubric)
    const withWeight = lines.flatMap((line) => {
      const { name, percent } = weighted.exec(line)?.groups ?? {}
      return name === undefined ? [] : [{ name: clean(name), weight: Number(percent) }]
    })
    const total = withWeight.reduce((sum, { weight }) => sum + weight, 0)
    if (withWeight.length > 0 && total > 0) {
      const warnings = Math.abs(total - 100) < 0.01 ? [] : [`The weights of the rubric sum to ${total} %, not 100 %.`]
      const own = withWeight.map(({ name, weight }, index) => ({ id: `c${index + 1}`, name, weight: weight / total }))
      return { criteria: own, text: rubric, basis: 'weighted', warnings }
    }
    const named = lines.flatMap((line) => titled.exec(line)?.groups?.name ?? [])
    const names = named.length > 0 ? named.map(clean) : criteria.length > 0 ? criteria : ['The whole task']
    return { criteria: equally(names), text: rubric, basis: 'equal', warnings: [] }
  }
  if (criteria.length === 0) return null
  const text = criteria.map((criterion) => `- ${criterion}`).join('\n')
  return { criteria: equally(criteria), text, basis: 'checklist', warnings: [] }
}

const equally = (names: readonly string[]): readonly JudgedCriterion[] =>
  names.map((name, index) => ({ id: `c${index + 1}`, name, weight: 1 / names.length }))

const clean = (name: string): string => name.replaceAll(/\*\*|__/gu, '').trim()

/** The lines outside of code fences: a rubric may hold an example of a rubric. */
function outsideFences(text: string): readonly string[] {
  let fence: string | null = null
  return text.split(/\r?\n/u).filter((line) => {
    const [, mark] = /^\s*(`{3,}|~{3,})/u.exec(line) ?? []
    if (mark === undefined) return fence === null
    if (fence === null) fence = mark
    else if (mark.startsWith(fence)) fence = null
    return false
  })
}
