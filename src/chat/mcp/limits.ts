/** How long a server is waited for, and how long names and descriptions may be. */

/** At the start, before the first prompt; a slower server joins later. */
export const START_WAIT_MS = 5000
/** The same where nobody is there to wait for. */
export const START_WAIT_UNATTENDED_MS = 30_000
/** Of a list of tools or prompts. */
export const MAX_LISTED_ITEMS = 1000
export const MAX_LIST_LENGTH = 4_000_000
/** A server that says again and again that its list has changed is asked less and less often. */
export const FIRST_PAUSE_MS = 1000
export const MAX_PAUSE_MS = 60_000
export const MAX_TOOL_NAME_BYTES = 64
export const MAX_TOOL_DESCRIPTION_BYTES = 10_004
