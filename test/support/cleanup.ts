/** Cleans up after each test file, even if files share loaded modules. */
type Clear = () => unknown

const left: Clear[] = []

export const onCleanup = (clear: Clear): void => void left.push(clear)

/** Last registered runs first. */
export async function runCleanups(): Promise<void> {
  for (const clear of left.splice(0).reverse()) await clear()
}
