/** What a person should know before anything they say is kept. */
export const keepingNotice = (dir: string): string =>
  `What you tell connected agents is kept word for word on this machine, in ${dir}, with secrets masked. \`credence pause\` stops that, and \`credence forget\` removes what was kept.`
