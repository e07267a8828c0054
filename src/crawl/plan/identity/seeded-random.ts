/** Chances that are the same for the same name, in [0, 1): a session's name gives its identity again and again. */
export function seededRandom(name: string): () => number {
  let state = 0x9e3779b9;
  for (let index = 0; index < name.length; index += 1) {
    state = Math.imul(state ^ name.charCodeAt(index), 0x85ebca6b);
    state ^= state >>> 13;
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
