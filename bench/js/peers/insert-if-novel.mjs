// What users of a search index write around it: search, and insert what is novel.

// `index` has insert(prepared, slot) and find(prepared) → {slot, similarity}; slots count from 0.
export function insertIfNovel(index, tau = 0.4) {
  let size = 0;
  return {
    prepare: index.prepare ?? ((vector) => vector),
    observe(prepared) {
      if (size > 0) {
        const { slot, similarity } = index.find(prepared);
        if (!(1 - similarity > tau)) return slot;
      }
      index.insert(prepared, size++);
      return -1;
    },
    insert: (prepared) => index.insert(prepared, size++),
    nearest: (prepared) => index.find(prepared).slot,
    size: () => size,
  };
}
