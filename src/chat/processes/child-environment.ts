/** The environment variables that commands, hooks and MCP servers get: those of this process, without the keys of model servers. */

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Keys that this program reads, by the variables that hold them and by their values. */
export interface SecretKeys {
  readonly names: readonly string[]
  readonly values: readonly string[]
}

/** The variables of a program that is about to start. @param listed those that an agent file lists for it */
export type EnvironmentBuilder = (listed?: Iterable<readonly [string, string]>) => Record<string, string>

/** Of this process, where nothing is known about profiles. */
export const ownEnvironment: EnvironmentBuilder = (listed) => childEnvironment(process.env, NO_KEYS, listed)

const NO_KEYS: SecretKeys = { names: [], values: [] }

/** Removed whatever the settings say. The second one covers `FUMI_PROFILES_<NAME>_KEY` of profiles that are no longer configured. */
const ALWAYS_REMOVED = [/^OPENAI_API_KEY$/i, /^FUMI_(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD)$/i]

/** They make bash run other code, or read a command differently, than its text says: commands are judged by their text. */
const BASH_VARIABLES = /^(?:BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|CDPATH|GLOBIGNORE)$/

/** Shorter values are no keys: they would remove unrelated variables such as SHLVL=1. */
const MIN_KEY_LENGTH = 8

/**
 * A variable is removed if it is known to hold a key, or if its value is one of the keys under another name.
 * @param listed what an agent file lists for its server: it is passed in any case, also a key
 */
export function childEnvironment(
  variables: EnvironmentVariables,
  keys: SecretKeys = NO_KEYS,
  listed: Iterable<readonly [string, string]> = [],
): Record<string, string> {
  const names = new Set(keys.names)
  const inNamed = Object.entries(variables).flatMap(([name, value]) => (isKey(name, names) ? [value ?? ''] : []))
  const values = new Set([...keys.values, ...inNamed].filter((value) => value.length >= MIN_KEY_LENGTH))
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables))
    if (value !== undefined && !isKey(name, names) && !values.has(value) && !BASH_VARIABLES.test(name))
      passed[name] = value
  for (const [name, value] of listed) passed[name] = expandVariables(value, variables)
  return passed
}

const isKey = (name: string, names: ReadonlySet<string>): boolean =>
  names.has(name) || ALWAYS_REMOVED.some((pattern) => pattern.test(name))

/** `${env:NAME}` stands for the variable NAME, as in Amazon Q's files. One that is not set stays as it is written. */
const expandVariables = (value: string, variables: EnvironmentVariables): string =>
  value.replaceAll(/\$\{env:([^}]+)\}/g, (match, name: string) => variables[name] ?? match)
