const fileName = String.raw`(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:md|markdown|txt|json|yaml|yml|csv|log)`

/** Files that a prompt names, by their paths in the workspace, in the order they are named. */
export const filesNamedIn = (prompt: string): readonly string[] => [
  ...new Set(
    [...prompt.matchAll(new RegExp(String.raw`(?<![\w/:.])(?:\.\/)?(${fileName})(?![\w/])`, 'giu'))].map(
      ([, path = '']) => path,
    ),
  ),
]

const writing = new RegExp(
  String.raw`\b(?:write|save|put|store|record|output|append|export|note|log|place|create|fill)\b[^?!\n]*?\b(?:in|into|to|as|called|named|at)\s+(?:a\s+|an\s+|the\s+|this\s+)?(?:new\s+|text\s+|markdown\s+)*(?:file\s+)?(?:called\s+|named\s+|at\s+)?[\x60"'“]?(?:\.\/)?(${fileName})`,
  'giu',
)

/** Files that a prompt wants something written into. */
export const filesToWrite = (prompt: string): readonly string[] => [
  ...new Set([...prompt.matchAll(writing)].map(([, path = '']) => path)),
]
