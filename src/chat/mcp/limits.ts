/** How long a server is waited for, and how long names and descriptions may be. */

/** At the start, before the first prompt; a slower server joins later. */
export const START_WAIT_MS = 5000
/** The same where nobody is there to wait for. */
export const START_WAIT_UNATTENDED_MS = 30_000
export const MAX_NAME_BYTES = 64
export const MAX_DESCRIPTION_BYTES = 10_004
