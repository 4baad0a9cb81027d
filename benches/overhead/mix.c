/* The same mix of work without any bookkeeping: of each ten turns seven read a file, two create one, one deletes one, drawn at
 * random. Prints how long the turns took, in seconds.
 *
 * mix DIRECTORY FILES FILES_MAX TURNS FILE_BYTES */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t state = 1;
static char buffer[1 << 20];
static char name[] = "f0000000000";
static unsigned char *live;

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016), then a multiplication
 * in place of a division. */
static uint64_t below(uint64_t bound)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint64_t)((unsigned __int128)(state * 0x2545f4914f6cdd1dULL) * bound >> 64);
}

static void check(int is_right, const char *call)
{
	if (!is_right) {
		perror(call);
		exit(1);
	}
}

static const char *name_of(uint64_t number)
{
	for (int at = 10; at > 0; at--, number /= 10)
		name[at] = '0' + number % 10;
	return name;
}

static void create(int directory, uint64_t number, size_t bytes)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	int file = openat(directory, name_of(number), flags, 0600);
	check(write(file, buffer, bytes) == (ssize_t)bytes, "write");
	check(close(file) == 0, "close");
	live[number] = 1;
}

static void read_whole(int directory, uint64_t number, size_t bytes)
{
	int file = openat(directory, name_of(number), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	check(read(file, buffer, sizeof buffer) == (ssize_t)bytes, "read");
	check(close(file) == 0, "close");
}

int main(int count, char **words)
{
	if (count != 6)
		return 2;
	int directory = open(words[1], O_RDONLY | O_DIRECTORY);
	uint64_t files = atoll(words[2]), files_max = atoll(words[3]), turns = atoll(words[4]);
	size_t bytes = atoll(words[5]);
	live = calloc(files_max, 1);
	memset(buffer, 'x', sizeof buffer);
	for (uint64_t number = 0; number < files; number++)
		create(directory, number, bytes);
	uint64_t next = files;
	struct timespec begin, end;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint64_t turn = 0; turn < turns; turn++) {
		uint64_t work = below(10), number;
		if (work >= 7 && work < 9) {
			while (live[next])
				next = (next + 1) % files_max;
			create(directory, next, bytes);
			continue;
		}
		do
			number = below(files_max);
		while (!live[number]);
		if (work < 7) {
			read_whole(directory, number, bytes);
		} else {
			check(unlinkat(directory, name_of(number), 0) == 0, "unlink");
			live[number] = 0;
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.9f\n", end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9);
	return 0;
}
