/* Work whose share in each function is known: `work getppid`, `work zero`; until it is ended. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static __attribute__((noinline)) void getppid_loop(void)
{
	for (;;)
		syscall(SYS_getppid);
}

static __attribute__((noinline)) void zero_loop(int zero)
{
	static char page[4096];

	while (read(zero, page, sizeof(page)) > 0)
		;
}

int main(int count, char **words)
{
	const char *work = count == 2 ? words[1] : "";

	if (strcmp(work, "getppid") == 0)
		getppid_loop();
	if (strcmp(work, "zero") == 0)
		zero_loop(open("/dev/zero", O_RDONLY));
	fprintf(stderr, "work: getppid or zero\n");
	return 2;
}
