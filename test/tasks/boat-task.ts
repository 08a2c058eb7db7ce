import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A task file about one person's boat: three sessions, checks in Python, and a rubric. */
export const boatTask = `---
id: task_boat
name: The boat
category: memory
grading_type: hybrid
timeout_seconds: 60
grading_weights: { automated: 0.6, llm_judge: 0.4 }
workspace_files: []
sessions:
  - id: tell
    prompt: |
      Please remember this and save it to memory/MEMORY.md:
      - My boat is called Halcyon.
      - I bought it on May 4, 2021.
      - My home harbor is Marstrand.
  - id: chat
    prompt: What is my boat called?
  - id: back
    new_session: true
    prompt: |
      I told you about my boat earlier; it is in memory/MEMORY.md. Tell me:
      1. What is my boat called?
      2. When did I buy it?
      3. Where is my home harbor?
credence:
  answer_checks:
    - { id: stored, session: tell, recall: false, expect: [[saved, stored]] }
    - { id: same-name, session: chat, expect: [Halcyon] }
    - { id: name, session: back, expect: [Halcyon] }
    - { id: day, session: back, expect: ["May 4, 2021"] }
    - { id: harbor, session: back, expect: [Marstrand] }
    - { id: memory-read, session: back, memory_read: true }
---
## Prompt

See the sessions.

## Expected Behavior

1. **Session 2**:
   - Correctly state that the boat is called Halcyon

## Grading Criteria

- [ ] Agent stores the facts (Session 1)
- [ ] Correctly recalls the name of the boat (Halcyon)
- [ ] Correctly recalls the day (May 4, 2021)
- [ ] Correctly recalls the harbor (Marstrand)

## Automated Checks

\`\`\`python
def grade(transcript: list, workspace_path: str) -> dict:
    from pathlib import Path
    note = Path(workspace_path) / "memory" / "MEMORY.md"
    text = note.read_text().lower() if note.exists() else ""
    return {"file": note.exists(), "facts": sum(word in text for word in ["halcyon", "may", "marstrand"]) / 3}
\`\`\`

## LLM Judge Rubric

### Criterion 1: Storage (Weight: 25%)

Stored.

### Criterion 2: Accuracy (Weight: 75%)

Right.
`

export function writeTask(folder: string, name: string, text: string): string {
  const file = join(folder, `${name}.md`)
  writeFileSync(file, text)
  return file
}

/**
 * An agent in one file: writes statements to remember into memory/MEMORY.md and answers with the content of that file. With \`forget\`
 * it stores nothing.
 */
export const notebookAgent = `
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
const prompt = readFileSync(0, 'utf8')
mkdirSync('memory', { recursive: true })
const file = 'memory/MEMORY.md'
if (process.argv[2] === 'fail') { console.error('no wish to work'); process.exit(3) }
if (process.argv[2] !== 'forget' && prompt.includes('remember')) appendFileSync(file, prompt + '\\n')
if (prompt.includes('remember')) console.log('Saved to memory/MEMORY.md.')
else console.log(existsSync(file) ? readFileSync(file, 'utf8') : 'I do not know.')
`
