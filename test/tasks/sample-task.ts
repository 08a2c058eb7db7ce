import { parseTask } from '../../src/tasks/parse/parse-task.ts'
import type { Task } from '../../src/tasks/task.ts'

/** The text of a task file: three sessions, the last one fresh. `frontMatter` replaces lines by key. */
export function taskText({
  frontMatter = '',
  sessions = threeSessions,
  body = defaultBody,
}: {
  readonly frontMatter?: string
  readonly sessions?: string
  readonly body?: string
} = {}): string {
  const given = ['id: boat', 'name: The boat', 'category: memory', 'grading_type: hybrid', 'timeout_seconds: 30']
  const replaced = given.filter((line) => !new RegExp(`^${line.split(':')[0]}:`, 'm').test(frontMatter))
  return ['---', ...replaced, frontMatter, sessions, '---', '', body].filter((line) => line !== null).join('\n')
}

const threeSessions = `sessions:
  - id: tell
    prompt: My boat is called Petrel. Save that in memory/MEMORY.md.
  - id: same
    prompt: What is my boat called?
  - id: later
    new_session: true
    prompt: Read memory/MEMORY.md. What is my boat called?`

const defaultBody = `## Prompt

See the sessions.

## Expected Behavior

The boat's name is kept and given back.

## Grading Criteria

- [ ] The name is kept
- [x] The name is given back

## Automated Checks

\`\`\`python
def grade(transcript, workspace_path):
    return {"kept": 1.0}
\`\`\`

## LLM Judge Rubric

### Accuracy (Weight: 100%)

The name is Petrel.
`

export const sampleTask = (parts: Parameters<typeof taskText>[0] = {}): Task =>
  parseTask(Buffer.from(taskText(parts)), 'boat.md')
