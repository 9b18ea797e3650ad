/** What tests leave behind is cleared away when their file is done: also where files share what they have loaded. */
type Clear = () => unknown

const left: Clear[] = []

export const onCleanup = (clear: Clear): void => void left.push(clear)

/** What came last goes first. */
export async function runCleanups(): Promise<void> {
  for (const clear of left.splice(0).reverse()) await clear()
}
