// Generates schemas from types, with their comments as descriptions: the answers of all operations and tools in
// src/operations/answers.json, and the arguments of all library functions in src/library-arguments.json. With --check it writes
// nothing and fails if a file is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API, SignatureKind, type Type, TypeFlags, type Symbol as TypeSymbol } from 'typescript/unstable/sync'

type Schema = Readonly<Record<string, unknown>>

const root = fileURLToPath(new URL('..', import.meta.url))

const api = new API({ cwd: root })
const project = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') }).getProjects()[0]
if (project === undefined) throw new Error('TypeScript found no project.')
const { checker, program } = project

const schemas: Record<string, Schema> = {}
/** The named types that are already described, by their ids. */
const described = new Map<string, number>()
/** An MCP client gets each tool separately, so a tool's schema must not refer to other schemas. */
let isInlined = false
/** True while arguments are described. Their comments are left out, because errors show only the names. */
let areArguments = false
const table = exportsOf('src/operations/table.ts')
const answers = Object.fromEntries(
  propertiesOf(table, 'operations').map(([name, operation]) => [name, answerOf(operation)]),
)
isInlined = true
const tools = Object.fromEntries(
  propertiesOf(table, 'operations').flatMap(([, operation]) => {
    const declared = checker.getPropertyOfType(operation, 'tool')
    if (declared === undefined) return []
    const tool = typeOf(declared)
    const name = checker.getPropertyOfType(tool, 'name')
    const written = name && typeOf(name)
    if (!written?.isStringLiteralType()) throw new Error('The name of a tool is not a literal.')
    return [[written.value, answerOf(tool)]]
  }),
)
areArguments = true
const library = exportsOf('src/library.ts')
const functions = ['openMemory', 'shadowRecall'].map((name) => [name, typeOf(exported(library, name))] as const)
const methods = checker.getPropertiesOfType(
  checker.getDeclaredTypeOfSymbol(exported(exportsOf('src/memory/memory.ts'), 'Memory')),
)
const parameters = Object.fromEntries(
  [...functions, ...methods.map((method) => [`memory.${method.name}`, typeOf(method)] as const)].map(([name, type]) => [
    name,
    argumentsOf(type),
  ]),
)
api.close()

const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
const written = Object.entries({ answers, tools, schemas: sorted }).map(([part, all]) => {
  return `  "${part}": {\n${linesOf(all, '    ')}\n  }`
})

write('src/operations/answers.json', `{\n${written.join(',\n')}\n}\n`)
write('src/library-arguments.json', `{\n${linesOf(parameters, '  ')}\n}\n`)

function write(path: string, text: string): void {
  if (!process.argv.includes('--check')) writeFileSync(join(root, path), text)
  else if (readFileSync(join(root, path), 'utf8') !== text) {
    console.error(`${path} is stale; run \`npm run docs\`.`)
    process.exitCode = 1
  }
}

function linesOf(all: Readonly<Record<string, unknown>>, indent: string): string {
  return Object.entries(all)
    .map(([name, schema]) => `${indent}${JSON.stringify(name)}: ${JSON.stringify(schema)}`)
    .join(',\n')
}

function exportsOf(path: string): ReadonlyMap<string, TypeSymbol> {
  const file = program.getSourceFile(join(root, path))
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file)
  if (module === undefined) throw new Error(`${path} is not a module.`)
  return new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]))
}

function propertiesOf(symbols: ReadonlyMap<string, TypeSymbol>, name: string): readonly (readonly [string, Type])[] {
  return checker
    .getPropertiesOfType(typeOf(exported(symbols, name)))
    .map((property) => [property.name, typeOf(property)])
}

function exported(symbols: ReadonlyMap<string, TypeSymbol>, name: string): TypeSymbol {
  const symbol = symbols.get(name)
  if (symbol === undefined) throw new Error(`There is no export "${name}".`)
  return symbol
}

function typeOf(symbol: TypeSymbol): Type {
  const type = checker.getTypeOfSymbol(symbol)
  if (type === undefined) throw new Error(`${symbol.name} has no type.`)
  return type
}

/** The schema of the value that the promise of `run` resolves to. */
function answerOf(operation: Type): Schema {
  const run = checker.getPropertyOfType(operation, 'run')
  const type = run && checker.getNonNullableType(typeOf(run))
  const [signature] = type === undefined ? [] : checker.getSignaturesOfType(type, SignatureKind.Call)
  const promise = signature && checker.getReturnTypeOfSignature(signature)
  const [answer] = promise?.isTypeReference() ? checker.getTypeArguments(promise) : []
  if (answer === undefined) throw new Error(`${checker.typeToString(operation)} has no answer.`)
  return schemaOf(answer)
}

function argumentsOf(type: Type): readonly Schema[] {
  const [signature] = checker.getSignaturesOfType(type, SignatureKind.Call)
  return (signature?.getParameters() ?? []).map((parameter) => {
    const given = typeOf(parameter)
    return { name: parameter.name, ...(isOptional(given) ? { isOptional: true } : {}), schema: schemaOf(given) }
  })
}

function isOptional(type: Type): boolean {
  return (type.isUnionType() ? type.getTypes() : [type]).some(({ flags }) => flags & TypeFlags.Undefined)
}

function schemaOf(type: Type): Schema {
  const { flags } = type
  if (flags & (TypeFlags.Any | TypeFlags.Unknown)) return {}
  if (flags & TypeFlags.Null) return { type: 'null' }
  if (flags & TypeFlags.StringLike && !type.isStringLiteralType()) return { type: 'string' }
  if (flags & TypeFlags.NumberLike && !type.isNumberLiteralType()) return { type: 'number' }
  if (type.isLiteralType()) return { const: type.value }
  if (flags & TypeFlags.Boolean) return { type: 'boolean' }
  if (type.isUnionType()) return unionOf(type.getTypes())
  if (checker.isTupleType(type) && type.isTypeReference()) {
    const items = checker.getTypeArguments(type).map(schemaOf)
    return { type: 'array', prefixItems: items, items: false, minItems: items.length }
  }
  if (checker.isArrayType(type) && type.isTypeReference())
    return { type: 'array', items: checker.getTypeArguments(type).map(schemaOf)[0] ?? {} }
  return namedObject(type)
}

function unionOf(types: readonly Type[]): Schema {
  const given = types.filter(({ flags }) => !(flags & TypeFlags.Undefined))
  const literals = given.flatMap((one) => (one.isLiteralType() ? [one.value] : []))
  const isBoolean = literals.includes(true) && literals.includes(false)
  const texts = literals.filter((value) => typeof value !== 'boolean' || !isBoolean)
  const parts = [
    ...(isBoolean ? [{ type: 'boolean' }] : []),
    ...(texts.length === 0 ? [] : [texts.length === 1 ? { const: texts[0] } : { enum: texts.sort() }]),
    ...given.filter((one) => !one.isLiteralType()).map(schemaOf),
  ]
  return parts.length === 1 ? (parts[0] ?? {}) : { anyOf: parts }
}

/** Describes a named type only once. */
function namedObject(type: Type): Schema {
  const alias = type.getAliasSymbol()
  const name = alias === undefined || type.getAliasTypeArguments().length > 0 ? undefined : alias.name
  if (areArguments && methodsOf(type).length > 0)
    return { instance: name ?? type.getSymbol()?.name, methods: methodsOf(type) }
  if (name === undefined || isInlined) return objectOf(type)
  const $ref = `#/components/schemas/${name}`
  const known = described.get(name) ?? type.id
  if (known !== type.id) throw new Error(`Two types of the answers are called ${name}.`)
  described.set(name, known)
  if (schemas[name] === undefined) {
    // Set before the properties are read, because they may refer to the type.
    schemas[name] = {}
    schemas[name] = { ...description(alias), ...objectOf(type) }
  }
  return { $ref }
}

/** The methods of a type; empty for plain data. */
function methodsOf(type: Type): readonly string[] {
  return checker.getPropertiesOfType(type).flatMap((property) => {
    const isMethod = checker.getSignaturesOfType(typeOf(property), SignatureKind.Call).length > 0
    return isMethod ? [property.name] : []
  })
}

function objectOf(type: Type): Schema {
  if (checker.getSignaturesOfType(type, SignatureKind.Call).length > 0) return { type: 'function' }
  const [index] = checker.getIndexInfosOfType(type)
  const properties = checker.getPropertiesOfType(type).map((property) => {
    const value = typeOf(property)
    return {
      name: property.name,
      value,
      schema: { ...schemaOf(value), ...(areArguments ? {} : description(property)) },
    }
  })
  const required = properties.filter(({ value }) => !isOptional(value)).map(({ name }) => name)
  return {
    type: 'object',
    ...(properties.length === 0
      ? {}
      : { properties: Object.fromEntries(properties.map(({ name, schema }) => [name, schema])), required }),
    additionalProperties: index === undefined ? false : schemaOf(index.valueType),
  }
}

function description(symbol: TypeSymbol | undefined): { readonly description?: string } {
  const comment = symbol?.getDocumentationComment(checker).replaceAll(/\s+/gu, ' ').trim() ?? ''
  return comment === '' ? {} : { description: comment }
}
