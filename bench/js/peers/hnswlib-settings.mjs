// The parameters of hnswlib's graph, for both packages that have it: of those tried the quickest that
// left no duplicate in a stream of 2,000, and those that left none in one of 10,000. Tried were M 8,
// 12, 16, 32; efConstruction 64, 100, 200; efSearch 10, 16, 24, 32, 100, 128, 200.
export const graphSettings = (slots) =>
  slots > 5000
    ? { m: 16, efConstruction: 200, efSearch: 100 }
    : { m: 12, efConstruction: 64, efSearch: 32 };

export const graphWords =
  'ip; M 12, efConstruction 64, efSearch 32, the quickest tried without a duplicate slot; ' +
  'with 10,000 slots and more 16, 200, 100, which left none there';
