/** Names of agents, which the server states in the page: `codex` is Codex. */

const stated = typeof document === 'undefined' ? undefined : document.documentElement.dataset['agents']
const names: { readonly [id: string]: string } = JSON.parse(stated ?? '{}')

/** The id for an agent that this server does not know. */
export const agentName = (id: string): string => (Object.hasOwn(names, id) ? names[id] : undefined) ?? id

/** Formats that programs of all kinds write do not say who speaks. */
const FORMATS: ReadonlySet<string> = new Set(['openai', 'normalized'])

/** @param assistant the name for a speaker without one */
export const speakerName = (agent: string, assistant: string): string =>
  FORMATS.has(agent) ? assistant : agentName(agent)
