import type { Problem } from '../../eval/store/parse-artifact.ts'
import type { Task } from '../task.ts'
import { undeclared } from './instantiate.ts'
import { readOwnAdditions } from './own-additions.ts'
import { Findings, invalidTask } from './problem.ts'
import { readFields } from './read-fields.ts'
import { checklist, differences, readSections, readSectionsAsUpstream, type SectionName } from './sections.ts'
import { readTaskText, sha256Of } from './task-text.ts'

export type ParseOptions = {
  /** Splits the body and finds the code as the original runner does. */
  readonly strictUpstream?: boolean
}

/** A task file that was looked at: the task where it is sound, and all that is to be said about it. */
export type CheckedTask = {
  readonly task: Task | null
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** Reads a task file. Throws a MemoryError `invalid` that names file, field and value, and never anything else. */
export function parseTask(bytes: Uint8Array, file: string, options: ParseOptions = {}): Task {
  const { task, problems } = checkTask(bytes, file, options)
  if (task === null) throw invalidTask(problems)
  return task
}

/** The same, with every problem instead of an error. Never throws. */
export function checkTask(bytes: Uint8Array, file: string, { strictUpstream = false }: ParseOptions = {}): CheckedTask {
  const findings = new Findings(file)
  const text = readTaskText(bytes, findings)
  if (text === null) return { task: null, problems: findings.problems, warnings: findings.warnings }

  const fields = readFields(text.frontMatter, findings)
  const aware = readSections(text.body)
  const blind = readSectionsAsUpstream(text.body)
  for (const difference of differences(aware, blind)) findings.warn(difference)
  const { byName, repeated } = strictUpstream ? blind : aware
  for (const name of repeated) findings.warn(`The section "${name}" is there more than once; the last one counts.`)

  const textOf = (name: SectionName): string => byName.get(name)?.text ?? ''
  const prompt = textOf('Prompt')
  if (fields.sessions.length === 0 && prompt === '' && !findings.problems.some(({ field }) => field === 'sessions')) {
    findings.wrong('## Prompt', 'is missing or empty, and there are no sessions; one of them must say what to do')
  }
  const sessions = fields.sessions.length > 0 ? fields.sessions : [{ id: 'main', prompt, isFresh: true }]
  const automatedChecks = byName.get('Automated Checks')?.python ?? null
  if (fields.gradingType !== 'llm_judge' && automatedChecks === null) {
    findings.warn(
      `grading_type is ${fields.gradingType}, but "Automated Checks" has no Python: nothing can be checked.`,
    )
  }
  const rubric = textOf('LLM Judge Rubric')
  const criteria = checklist(textOf('Grading Criteria'))
  if (fields.gradingType !== 'automated' && rubric === '' && criteria.length === 0) {
    findings.warn(`grading_type is ${fields.gradingType}, but there is neither a rubric nor a list of criteria.`)
  }
  const own = readOwnAdditions(text.frontMatter.credence, sessions, findings)

  const task: Task = {
    ...fields,
    sessions,
    prompt,
    expectedBehavior: textOf('Expected Behavior'),
    criteria,
    automatedChecks,
    rubric: rubric === '' ? null : rubric,
    answerChecks: own.answerChecks,
    frontMatter: text.frontMatter,
    file,
    sha256: sha256Of(bytes),
    warnings: findings.warnings,
  }
  for (const { field, name, known } of undeclared(task, own.draw)) {
    findings.wrong(field, `has {{${name}}}, but credence.draw knows only ${known.join(', ')}`)
  }
  return {
    task: findings.problems.length === 0 ? task : null,
    problems: findings.problems,
    warnings: findings.warnings,
  }
}
