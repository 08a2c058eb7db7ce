import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, asRefusal, type Refusal } from '../../api/client.ts'
import { showToast } from '../../state/changes.ts'
import { useResource } from '../../state/resource.ts'
import { Badge, Button, Time } from '../../ui/elements.tsx'
import { EmptyState, Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { AddPerson, CreateTeam, Remove } from './people-dialogs.tsx'

type Token = RouteAnswer<'listTokens'>['items'][number]
type Team = RouteAnswer<'listTeams'>['items'][number]
/** `people` is null for somebody who is not an administrator: they see their own tokens and teams. */
type Access = {
  readonly people: RouteAnswer<'listPeople'>['items'] | null
  readonly tokens: readonly Token[]
  readonly teams: readonly Team[]
}
type Open =
  | { readonly what: 'person' | 'team' }
  | { readonly what: 'remove'; readonly kind: 'person' | 'team'; readonly name: string }

async function load(signal: AbortSignal): Promise<Access> {
  const people = await ask('listPeople', { signal }).catch((error: unknown) => {
    if (asRefusal(error).status === 403) return null
    throw error
  })
  const [tokens, teams] = await Promise.all([ask('listTokens', { signal }), ask('listTeams', { signal })])
  return { people: people?.items ?? null, tokens: tokens.items, teams: teams.items }
}

/** Who may use this server: people, their tokens and agents, and teams. Nobody's memory is shown here. */
export function PeoplePage() {
  const found = useResource('people', load)
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const revoke = (id: string) =>
    ask('revokeToken', { params: { id } }).then(
      () => {
        showToast(`Revoked ${id}. Every server refuses it from now on.`)
        found.reload()
      },
      (error: unknown) => showToast(asRefusal(error).message, { tone: 'failed' }),
    )
  /** Closes the dialog when it is done; what was refused stays in it. */
  const done = async (work: Promise<unknown>): Promise<Refusal | null> => {
    try {
      await work
      found.reload()
      close()
      return null
    } catch (error) {
      return asRefusal(error)
    }
  }
  return (
    <>
      <header class="page-head">
        <h1>People</h1>
        {found.value === null || found.value.people === null ? null : (
          <div class="row to-end">
            <Button icon="plus" onClick={() => setOpen({ what: 'team' })}>
              Create a team
            </Button>
            <Button icon="plus" tone="main" onClick={() => setOpen({ what: 'person' })}>
              Add a person
            </Button>
          </div>
        )}
        <p>
          Who may use this server. Each person has a memory of their own, which nobody else can read here; teams share
          one.
        </p>
      </header>
      <Loaded resource={found} waiting={<SkeletonRows rows={6} label="Looking for people" />}>
        {({ people, tokens, teams }) =>
          people?.length === 0 && tokens.length === 0 && teams.length === 0 ? (
            <EmptyState icon="people" title="Nobody else uses this memory">
              <p>Add a person to let others use this server, each with a memory of their own. Teams share one.</p>
            </EmptyState>
          ) : (
            <div class="stack">
              {people === null ? (
                <Panel title="Your tokens">
                  <Tokens tokens={tokens} revoke={revoke} />
                </Panel>
              ) : (
                [...people.map(({ name }) => name), null].map((name) => (
                  <Panel
                    key={name}
                    title={name ?? 'Administrators'}
                    remove={name === null ? null : () => setOpen({ what: 'remove', kind: 'person', name })}
                  >
                    <Tokens tokens={tokens.filter(({ person }) => person === name)} revoke={revoke} />
                  </Panel>
                ))
              )}
              {teams.map(({ name, members }) => (
                <Panel
                  key={`team:${name}`}
                  title={`Team ${name}`}
                  remove={people === null ? null : () => setOpen({ what: 'remove', kind: 'team', name })}
                >
                  <p class="row">
                    {members.map(({ person, role }) => (
                      <Badge key={person}>
                        {person}, {role}
                      </Badge>
                    ))}
                  </p>
                </Panel>
              ))}
            </div>
          )
        }
      </Loaded>
      {open?.what === 'person' ? <AddPerson onClose={close} onAdded={found.reload} /> : null}
      {open?.what === 'team' ? (
        <CreateTeam
          people={found.value?.people?.map(({ name }) => name) ?? []}
          onClose={close}
          onCreate={(body) => done(ask('createTeam', { body }))}
        />
      ) : null}
      {open?.what === 'remove' ? (
        <Remove
          name={open.name}
          onClose={close}
          onRemove={(memory) => {
            const given = { params: { name: open.name }, query: { memory } }
            return done(open.kind === 'person' ? ask('removePerson', given) : ask('removeTeam', given))
          }}
        />
      ) : null}
    </>
  )
}

type PanelProps = {
  readonly title: string
  readonly remove?: (() => void) | null
  readonly children: preact.ComponentChildren
}

function Panel({ title, remove = null, children }: PanelProps) {
  return (
    <section class="panel pad stack tight" aria-label={title}>
      <div class="row">
        <h2>{title}</h2>
        {remove === null ? null : (
          <Button
            tone="quiet"
            icon="trash"
            class="to-end"
            aria-label={`Remove ${title}`}
            title="Remove"
            onClick={remove}
          />
        )}
      </div>
      {children}
    </section>
  )
}

const uses: Readonly<Record<Token['kind'], string>> = {
  person: 'person',
  agent: 'agent',
  admin: 'administrator',
}

const validFirst = (tokens: readonly Token[]): readonly Token[] =>
  [...tokens].sort((one, other) => Number(one.revokedAt !== null) - Number(other.revokedAt !== null))

function Tokens({ tokens, revoke }: { readonly tokens: readonly Token[]; readonly revoke: (id: string) => void }) {
  if (tokens.length === 0) return <p class="soft small">No tokens.</p>
  return (
    <div class="table-scroll">
      <table class="folding">
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">For</th>
            <th scope="col">Scopes</th>
            <th scope="col">Made</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span class="unseen">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {validFirst(tokens).map(({ id, kind, scopes, label, createdAt, lastUsedAt, revokedAt }) => (
            <tr key={id}>
              <td>
                <code>{id}</code>
              </td>
              <td>
                {uses[kind]}
                {label === '' ? '' : `: ${label}`}
              </td>
              <td>{scopes.join(', ')}</td>
              <td data-label="made">
                <Time at={createdAt} />
              </td>
              <td data-label="last used">{lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />}</td>
              <td>
                {revokedAt === null ? (
                  <Button onClick={() => revoke(id)} aria-label={`Revoke ${id}`}>
                    Revoke
                  </Button>
                ) : (
                  <>
                    Revoked <Time at={revokedAt} />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
