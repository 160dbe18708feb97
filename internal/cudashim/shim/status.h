/* What became of the driver, for Go. */
enum shim_state {
	SHIM_READY,
	SHIM_NO_DRIVER,
	SHIM_NO_DEVICE,
	SHIM_TOO_OLD,
	SHIM_INIT_FAILED,
	SHIM_BROKEN,
};

/* Loads the driver at the first call. The reason is a text for people and lives for good. */
__attribute__((visibility("hidden"))) enum shim_state shim_status(char **reason);
