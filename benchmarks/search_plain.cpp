// What search.py compares with: IDA* on the 15-puzzle (blank first) with Manhattan distance, and nothing
// else. It stops at the first solution, tells no ways, and has no budget. A function for each cell of the
// blank and each direction that it came from; a board is 16 times 4 bits.
//
//     search_plain BOARD...      prints the length, the nodes generated and the processor seconds
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

using Word = std::uint64_t;

constexpr int kSteps[4] = {-4, -1, 1, 4};  // 3 - d is the way back
constexpr bool leads(int cell, int d) {
  return d == 0 ? cell >= 4 : d == 1 ? cell % 4 > 0 : d == 2 ? cell % 4 < 3 : cell < 12;
}

Word nearer[16][4];  // [blank][direction]: bit t, whether the move takes piece t nearer its goal
Word goal, nodes;

template <int kBlank, int kBack>
bool below(Word board, int slack);

template <int kBlank, int kBack, int kDirection>
bool child(Word board, int slack) {
  if constexpr (kDirection != kBack && leads(kBlank, kDirection)) {
    constexpr int kTo = kBlank + kSteps[kDirection];
    const Word piece = board >> (4 * kTo) & 15;
    ++nodes;
    const int rest = slack - ((nearer[kBlank][kDirection] >> piece & 1) != 0 ? 0 : 2);
    return rest >= 0 && below<kTo, 3 - kDirection>(board ^ piece << (4 * kTo) ^ piece << (4 * kBlank), rest);
  }
  return false;
}

template <int kBlank, int kBack>
bool below(Word board, int slack) {
  if (kBlank == 0 && board == goal) return true;
  return child<kBlank, kBack, 0>(board, slack) || child<kBlank, kBack, 1>(board, slack) ||
         child<kBlank, kBack, 2>(board, slack) || child<kBlank, kBack, 3>(board, slack);
}

template <int kBlank = 0>
bool search(int blank, Word board, int slack) {
  if (blank == kBlank) return below<kBlank, 4>(board, slack);
  if constexpr (kBlank < 15) return search<kBlank + 1>(blank, board, slack);
  return false;
}

int distance(int piece, int cell) { return std::abs(piece / 4 - cell / 4) + std::abs(piece % 4 - cell % 4); }

int main(int count, char** words) {
  if (count != 17) return 2;
  Word board = 0;
  int blank = 0, bound = 0;
  for (int cell = 0; cell < 16; ++cell) {
    const int piece = std::atoi(words[cell + 1]);
    board |= static_cast<Word>(piece) << (4 * cell);
    goal |= static_cast<Word>(cell) << (4 * cell);
    if (piece == 0)
      blank = cell;
    else
      bound += distance(piece, cell);
    for (int d = 0; d < 4; ++d)
      for (int t = 1; t < 16 && leads(cell, d); ++t)
        if (distance(t, cell) < distance(t, cell + kSteps[d])) nearer[cell][d] |= Word{1} << t;
  }
  const std::clock_t begun = std::clock();
  const int first = bound;
  while (!search(blank, board, bound - first)) bound += 2;
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  std::printf("%d %llu %.6f\n", bound, static_cast<unsigned long long>(nodes), seconds);
}
