/** Stores written by versions up to 0.2 may also contain tokens of the kind `invite`. No call returns those. */
export const tokenKinds = ['person', 'agent', 'admin'] as const
export type TokenKind = (typeof tokenKinds)[number]

/** Sorted by rights: each role includes the rights of the roles before it. */
export const roles = ['reader', 'writer', 'owner'] as const
export type Role = (typeof roles)[number]

export type Person = { readonly name: string; readonly createdAt: string }

/** The record of a token. The store never contains the token itself, only its hash. */
export type AccessToken = {
  readonly id: string
  readonly kind: TokenKind
  /** The person whose memory the token opens; null for an administrator's token. */
  readonly person: string | null
  /** For an agent's token, the scopes it is limited to; empty for other tokens. */
  readonly scopes: readonly string[]
  readonly label: string
  readonly createdAt: string
  /** Accurate to a few minutes; null if the token was never used. */
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
 * Who may use a served memory. Each change is one transaction. It returns false if it had no effect, because the name is taken or the named
 * item does not exist. Lists are sorted by name or id.
 */
export type AccessStore = {
  addPerson(person: Person): Promise<boolean>
  /** Also removes the person's tokens and memberships. */
  removePerson(name: string): Promise<boolean>
  people(): Promise<readonly Person[]>
  /** False if there is no such person. A token with an existing id is not added again. */
  addToken(token: AccessToken, hash: string): Promise<boolean>
  /** False if there is no such token, or if it was already revoked at a different time. */
  revokeToken(id: string, at: string): Promise<boolean>
  /** Records the time of a token's last use. */
  noteUse(id: string, at: string): Promise<void>
  /** Lists all tokens, or those of one person, including revoked ones. */
  tokens(person?: string): Promise<readonly AccessToken[]>
  /** Finds a token; null if there is none or it was revoked. */
  findToken(by: { readonly hash: string } | { readonly id: string }): Promise<FoundToken | null>
  addTeam(team: Omit<Team, 'members'>): Promise<boolean>
  removeTeam(name: string): Promise<boolean>
  teams(): Promise<readonly Team[]>
  /** Adds a member or changes the role of one. */
  setMember(team: string, person: string, role: Role): Promise<boolean>
  removeMember(team: string, person: string): Promise<boolean>
}

/** The part of a store that controls who may use it. */
export type AccessControl = {
  access(): Promise<AccessStore>
  /** The teams of a person, sorted by name; empty for an unknown person. Must be one fast look-up, because every local program calls it. */
  memberships(person: string): Promise<readonly Membership[]>
}
