import type { AccessStore, AccessToken, Membership, Role, Team, TokenKind } from '../beliefs/access-store.ts'

type Value = string | null
/** Runs one statement in a separate transaction. Parameters are $1, $2, …; tables are in the schema `credence`. */
type RunAccess = <Row>(use: 'read' | 'write', sql: string, values: readonly Value[]) => Promise<readonly Row[]>

type TokenRow = {
  id: string
  kind: TokenKind
  person: string | null
  scopes: string
  label: string
  created_at: string
  last_used_at: string | null
  revoked_at: string | null
}
type PersonRow = { name: string; created_at: string }

const tokenOf = ({ id, kind, person, scopes, label, ...times }: TokenRow): AccessToken => ({
  id,
  kind,
  person,
  scopes: JSON.parse(scopes) as readonly string[],
  label,
  createdAt: times.created_at,
  lastUsedAt: times.last_used_at,
  revokedAt: times.revoked_at,
})

const made = 'id, kind, person, scopes, label, created_at'
const columns = `${made}, last_used_at, revoked_at`

/** The `AccessStore` port, in SQL that both SQLite and PostgreSQL accept. Every change is one statement, so it is atomic. */
export function sqlAccess(run: RunAccess): AccessStore {
  const read = <Row>(sql: string, values: readonly Value[] = []) => run<Row>('read', sql, values)
  const write = async (sql: string, values: readonly Value[]) => (await run('write', sql, values)).length > 0
  /** Whether the token exists now. After a lost connection, the repeated statement may find the row that its first attempt inserted. */
  const isDoneOrThere = async (isDone: boolean, id: string): Promise<boolean> =>
    isDone || (await read('SELECT 1 AS found FROM credence.tokens WHERE id = $1', [id])).length > 0

  return {
    addPerson: ({ name, createdAt }) =>
      write(
        'INSERT INTO credence.people (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING name',
        [name, createdAt],
      ),
    removePerson: (name) => write('DELETE FROM credence.people WHERE name = $1 RETURNING name', [name]),
    people: async () =>
      (await read<PersonRow>('SELECT name, created_at FROM credence.people ORDER BY name')).map(
        ({ name, created_at: createdAt }) => ({ name, createdAt }),
      ),
    addToken: async ({ id, kind, person, scopes, label, createdAt }, hash) =>
      isDoneOrThere(
        await write(
          `INSERT INTO credence.tokens (hash, ${made})
           SELECT $1, $2, $3, CAST($4 AS text), $5, $6, $7
           WHERE CAST($4 AS text) IS NULL OR EXISTS (SELECT 1 FROM credence.people WHERE name = CAST($4 AS text))
           ON CONFLICT DO NOTHING RETURNING id`,
          [hash, id, kind, person, JSON.stringify(scopes), label, createdAt],
        ),
        id,
      ),
    // Erases the hash, so that no query finds a revoked token by it. `revoked_at = $2` holds if an earlier attempt succeeded but lost the connection.
    revokeToken: (id, at) =>
      write(
        `UPDATE credence.tokens SET revoked_at = $2, hash = 'revoked ' || id
         WHERE id = $1 AND (revoked_at IS NULL OR revoked_at = $2) RETURNING id`,
        [id, at],
      ),
    noteUse: async (id, at) => {
      await write('UPDATE credence.tokens SET last_used_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id', [
        id,
        at,
      ])
    },
    tokens: async (person) =>
      (
        await (person === undefined
          ? read<TokenRow>(`SELECT ${columns} FROM credence.tokens WHERE kind <> 'invite' ORDER BY id`)
          : read<TokenRow>(
              `SELECT ${columns} FROM credence.tokens WHERE kind <> 'invite' AND person = $1 ORDER BY id`,
              [person],
            ))
      ).map(tokenOf),
    findToken: async (by) => {
      const [key, value] = 'hash' in by ? ['hash', by.hash] : ['id', by.id]
      const rows = await read<TokenRow & { team: string | null; role: Role }>(
        `SELECT ${columns}, team, role FROM credence.tokens LEFT JOIN credence.team_members USING (person)
         WHERE ${key} = $1 AND kind <> 'invite' AND revoked_at IS NULL ORDER BY team`,
        [value],
      )
      const [first] = rows
      if (first === undefined) return null
      const teams = rows.flatMap(({ team, role }): Membership[] => (team === null ? [] : [{ team, role }]))
      return { ...tokenOf(first), teams }
    },
    addTeam: ({ name, createdAt }) =>
      write(
        'INSERT INTO credence.teams (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING name',
        [name, createdAt],
      ),
    removeTeam: (name) => write('DELETE FROM credence.teams WHERE name = $1 RETURNING name', [name]),
    teams: async () => {
      const rows = await read<PersonRow & { person: string | null; role: Role }>(
        `SELECT t.name, t.created_at, m.person, m.role
         FROM credence.teams t LEFT JOIN credence.team_members m ON m.team = t.name ORDER BY t.name, m.person`,
      )
      return [...Map.groupBy(rows, ({ name }) => name)].map(
        ([name, of]): Team => ({
          name,
          createdAt: of[0]?.created_at ?? '',
          members: of.flatMap(({ person, role }) => (person === null ? [] : [{ person, role }])),
        }),
      )
    },
    setMember: (team, person, role) =>
      write(
        `INSERT INTO credence.team_members (team, person, role)
         SELECT name, CAST($2 AS text), $3 FROM credence.teams
         WHERE name = $1 AND EXISTS (SELECT 1 FROM credence.people WHERE name = CAST($2 AS text))
         ON CONFLICT (person, team) DO UPDATE SET role = excluded.role RETURNING role`,
        [team, person, role],
      ),
    removeMember: (team, person) =>
      write('DELETE FROM credence.team_members WHERE team = $1 AND person = $2 RETURNING team', [team, person]),
  }
}
