import { z } from 'zod'

/** The hook output formats that hosts document. */

/** https://code.claude.com/docs/en/hooks, "JSON output": fields that Claude Code does not know are ignored. */
export const claudeCodeOutput = z.object({
  hookSpecificOutput: z.object({
    hookEventName: z.enum(['SessionStart', 'UserPromptSubmit', 'PreToolUse']),
    additionalContext: z.string().max(10_000),
  }),
})

/** openai/codex, codex-rs/hooks/schema/generated/*.command.output.schema.json: `additionalProperties: false` throughout. */
export const codexOutput = z.strictObject({
  continue: z.boolean().optional(),
  stopReason: z.string().nullable().optional(),
  suppressOutput: z.boolean().optional(),
  systemMessage: z.string().nullable().optional(),
  hookSpecificOutput: z
    .strictObject({
      hookEventName: z.enum(['SessionStart', 'UserPromptSubmit', 'PreToolUse']),
      additionalContext: z.string().nullable().optional(),
    })
    .optional(),
})

/** https://cursor.com/docs/agent/hooks: the allowed answers of sessionStart and beforeSubmitPrompt. */
export const cursorOutput = z.union([
  z.strictObject({ additional_context: z.string() }),
  // Cursor 3.20 accepts this context; its documents name only `continue` and `user_message`.
  z.strictObject({ continue: z.boolean(), additional_context: z.string().optional() }),
])

/** Gemini CLI, docs/hooks/reference.md: the output of SessionStart and BeforeAgent. */
export const geminiOutput = z.strictObject({
  hookSpecificOutput: z.strictObject({
    hookEventName: z.enum(['SessionStart', 'BeforeAgent']),
    additionalContext: z.string(),
  }),
})
