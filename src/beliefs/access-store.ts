/** What a token is for. Stores up to 0.2 may have others, of the kind `invite`, which no call returns. */
export const tokenKinds = ['person', 'agent', 'admin'] as const
export type TokenKind = (typeof tokenKinds)[number]

/** In order: each role includes the rights of those before it. */
export const roles = ['reader', 'writer', 'owner'] as const
export type Role = (typeof roles)[number]

export type Person = { readonly name: string; readonly createdAt: string }

/** A stored token: its rights, and never the token itself. */
export type AccessToken = {
  readonly id: string
  readonly kind: TokenKind
  /** Whose memory it opens; null for an administrator. */
  readonly person: string | null
  /** For an agent: the scopes it is limited to. Empty for others. */
  readonly scopes: readonly string[]
  readonly label: string
  readonly createdAt: string
  /** To within a few minutes; null before the first use. */
  readonly lastUsedAt: string | null
  readonly revokedAt: string | null
}

export type Membership = { readonly team: string; readonly role: Role }
export type Team = {
  readonly name: string
  readonly createdAt: string
  readonly members: readonly { readonly person: string; readonly role: Role }[]
}

/** A token with the teams of its person. */
export type FoundToken = AccessToken & { readonly teams: readonly Membership[] }

/**
 * Who may use a served memory. Each change is one transaction; it returns false if it did not apply: the name is taken,
 * or the named item does not exist. Lists are sorted by name or id.
 */
export type AccessStore = {
  addPerson(person: Person): Promise<boolean>
  /** Removes the tokens and memberships of the person too. */
  removePerson(name: string): Promise<boolean>
  people(): Promise<readonly Person[]>
  /** False if there is no such person. A token with an existing id is not added again. */
  addToken(token: AccessToken, hash: string): Promise<boolean>
  /** False if there is no such token, or if it was revoked at another time. */
  revokeToken(id: string, at: string): Promise<boolean>
  /** Notes that a token was used at this time. */
  noteUse(id: string, at: string): Promise<void>
  /** All of them, or those of one person; revoked ones too. */
  tokens(person?: string): Promise<readonly AccessToken[]>
  /** A token that was not revoked. */
  findToken(by: { readonly hash: string } | { readonly id: string }): Promise<FoundToken | null>
  addTeam(team: Omit<Team, 'members'>): Promise<boolean>
  removeTeam(name: string): Promise<boolean>
  teams(): Promise<readonly Team[]>
  /** Adds a member or changes the role of one. */
  setMember(team: string, person: string, role: Role): Promise<boolean>
  removeMember(team: string, person: string): Promise<boolean>
}

/** A store that also keeps who may use it. */
export type AccessControl = {
  access(): Promise<AccessStore>
  /** The teams of a person, by name; none for a name that is not a person's. Every local program asks, so it costs one look-up. */
  memberships(person: string): Promise<readonly Membership[]>
}
