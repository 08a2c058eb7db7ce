import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, toRefusal } from '../../api/client.ts'
import { showToast, toastRefusal } from '../../state/changes.ts'
import { useResource } from '../../state/resource.ts'
import { Badge, Button, Time } from '../../ui/elements.tsx'
import { PageHead, Panel, Table } from '../../ui/layout.tsx'
import { EmptyState, Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { AddPerson, CreateTeam, Remove } from './people-dialogs.tsx'

type Token = RouteAnswer<'listTokens'>['items'][number]
type Team = RouteAnswer<'listTeams'>['items'][number]
/** `people` is null for users who are not administrators; they see only their own tokens and teams. */
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
    if (toRefusal(error).status === 403) return null
    throw error
  })
  const [tokens, teams] = await Promise.all([ask('listTokens', { signal }), ask('listTeams', { signal })])
  return { people: people?.items ?? null, tokens: tokens.items, teams: teams.items }
}

/** The people, tokens and teams that may use this server. Does not show their memories. */
export function PeoplePage() {
  const found = useResource('people', load)
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const revoke = (id: string) =>
    ask('revokeToken', { params: { id } }).then(() => {
      showToast(`Revoked ${id}. Every server rejects it from now on.`)
      found.reload()
    }, toastRefusal)
  /** Closes the dialog on success; after a refusal it stays open. */
  const finish = async (work: Promise<unknown>): Promise<null> => {
    await work
    found.reload()
    close()
    return null
  }
  const removeButton = (wish: Extract<Open, { what: 'remove' }>) => (
    <Button
      tone="quiet"
      icon="trash"
      title="Remove"
      aria-label={`Remove ${wish.kind === 'team' ? 'Team ' : ''}${wish.name}`}
      onClick={() => setOpen(wish)}
    />
  )
  return (
    <>
      <PageHead
        title="People"
        tools={
          found.value?.people == null ? undefined : (
            <>
              <Button icon="plus" onClick={() => setOpen({ what: 'team' })} label="Create a team" />
              <Button icon="plus" tone="main" onClick={() => setOpen({ what: 'person' })} label="Add a person" />
            </>
          )
        }
      >
        The people who may use this server. Each person has a private memory, which nobody else can read here; a team
        shares one.
      </PageHead>
      <Loaded resource={found} waiting={<SkeletonRows rows={6} label="Loading people" />}>
        {({ people, tokens, teams }) =>
          people?.length === 0 && tokens.length === 0 && teams.length === 0 ? (
            <EmptyState
              icon="people"
              title="Nobody else uses this memory"
              text="Add people to let them use this server. Each person has a private memory; a team shares one."
            />
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
                    tools={name === null ? null : removeButton({ what: 'remove', kind: 'person', name })}
                  >
                    <Tokens tokens={tokens.filter(({ person }) => person === name)} revoke={revoke} />
                  </Panel>
                ))
              )}
              {teams.map(({ name, members }) => (
                <Panel
                  key={`team:${name}`}
                  title={`Team ${name}`}
                  tools={people === null ? null : removeButton({ what: 'remove', kind: 'team', name })}
                >
                  <p class="pad row">
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
          onCreate={(body) => finish(ask('createTeam', { body }))}
        />
      ) : null}
      {open?.what === 'remove' ? (
        <Remove
          name={open.name}
          onClose={close}
          onRemove={(memory) => {
            const given = { params: { name: open.name }, query: { memory } }
            return finish(open.kind === 'person' ? ask('removePerson', given) : ask('removeTeam', given))
          }}
        />
      ) : null}
    </>
  )
}

const uses: Readonly<Record<Token['kind'], string>> = {
  person: 'person',
  agent: 'agent',
  admin: 'administrator',
}

const sortValidFirst = (tokens: readonly Token[]): readonly Token[] =>
  [...tokens].sort((a, b) => Number(a.revokedAt !== null) - Number(b.revokedAt !== null))

function Tokens({ tokens, revoke }: { readonly tokens: readonly Token[]; readonly revoke: (id: string) => void }) {
  if (tokens.length === 0) return <p class="pad soft small">No tokens.</p>
  return (
    <Table
      rows={sortValidFirst(tokens)}
      keyOf={({ id }) => id}
      columns={[
        { head: 'Token', cell: ({ id }) => <code>{id}</code> },
        { head: 'For', cell: ({ kind, label }) => `${uses[kind]}${label === '' ? '' : `: ${label}`}` },
        { head: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
        { head: 'Made', label: 'made', cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          head: 'Last used',
          label: 'last used',
          cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />),
        },
        {
          head: 'Revoke',
          isHeadHidden: true,
          cell: ({ id, revokedAt }) =>
            revokedAt === null ? (
              <Button onClick={() => revoke(id)} aria-label={`Revoke ${id}`} label="Revoke" />
            ) : (
              <>
                Revoked <Time at={revokedAt} />
              </>
            ),
        },
      ]}
    />
  )
}
