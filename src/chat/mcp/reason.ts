/** Why a server did not do what was asked, in one line for a person. */

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && 'code' in error && error.code === 401)
    return 'it wants to know who you are: put a token into its headers'
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return (text + cause).split('\n')[0] ?? ''
}
